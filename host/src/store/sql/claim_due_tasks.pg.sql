-- Takes tasks with a deadline behind them, under a lease. The version stays: the row is as its holder knows
-- it.
with picked as (
  select t.id from workflow_external_tasks as t
  where t.due_at <= ($1::json ->> 'now')::timestamptz
  order by t.due_at
  limit ($1::json ->> 'rows_max')::bigint
  for update skip locked
)
update workflow_external_tasks as t set due_at = ($1::json ->> 'lease_until')::timestamptz
from picked as p
where t.id = p.id
returning row_to_json(t)::text
