-- Takes schedules that are due, under a lease. The version stays: it is what the guard compares.
with picked as (
  select t.id from workflow_schedules as t
  where t.due_at <= ($1::json ->> 'now')::timestamptz
  order by t.due_at
  limit ($1::json ->> 'rows_max')::bigint
  for update skip locked
)
update workflow_schedules as t set due_at = ($1::json ->> 'lease_until')::timestamptz
from picked as p
where t.id = p.id
returning row_to_json(t)::text
