-- How many waits there are, how many of them are long overdue, and the oldest; over all tenants.
select json_object(
  'active', count(*), 'overdue', count(*) filter (where t.expires_at < ?1 ->> 'overdue_before'),
  'oldest', min(t.created_at)
)
from execution_wait_states as t
where t.status = 'waiting'
