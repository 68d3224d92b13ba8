-- Waits that ended before a time are forgotten, some at once.
delete from execution_wait_states
where id in (
  select w.id from execution_wait_states as w
  where w.status <> 'waiting' and w.updated_at < (select value ->> 'ended_before' from json_each(?1) limit 1)
  order by w.updated_at
  limit (select value ->> 'rows_max' from json_each(?1) limit 1)
)
