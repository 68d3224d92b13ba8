-- The number of a lane. Waits for a transaction that holds the lane, so that an old backend cannot commit
-- afterwards.
insert into workflow_lanes as l (id, number, touched_at)
select r.id, 0, r.touched_at
from json_to_record($1::json) as r (id uuid, touched_at timestamptz)
on conflict (id) do update set touched_at = l.touched_at
returning to_json(l.number)::text
