-- A batch in one statement is written from the versions that were read, or not at all: where one is not there, this
-- ends the statement. The host then looks at each row, and writes those transitions that still hold.
create function workflow_expect(fine boolean) returns boolean
language plpgsql as $$
begin
  if fine then
    return true;
  end if;
  raise exception 'rows of a batch have changed since they were read; the host decides it again, nothing is lost'
    using errcode = 'SW001';
end
$$;
