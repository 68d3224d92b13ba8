-- How many waits there are, how many of them are long overdue, and the oldest; over all tenants.
select json_build_object(
  'active', count(*),
  'overdue', count(*) filter (where t.expires_at < ($1::json ->> 'overdue_before')::timestamptz),
  'oldest', min(t.created_at)
)::text
from execution_wait_states as t
where t.status = 'waiting'
