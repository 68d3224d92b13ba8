-- The last statement before COMMIT: if the answer to COMMIT is lost, the number tells whether it was done.
insert into workflow_lanes as l (id, number, touched_at)
select r.id, r.number, r.touched_at
from json_to_record($1::json) as r (id uuid, number bigint, touched_at timestamptz)
on conflict (id) do update set number = excluded.number, touched_at = excluded.touched_at
