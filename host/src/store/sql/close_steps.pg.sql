-- Steps ended: their open tasks are cancelled, their timers, subscriptions and events removed. The rows of
-- the steps themselves are written by upsert_steps.
-- From the key to the row, whatever the planner thinks of a table that was empty a moment ago.
with r as materialized (
  select * from json_to_recordset($1::json) as r (tenant text, step_execution_id uuid, at timestamptz)
), tasks as (
  update workflow_external_tasks as t set
    status = 'CANCELLED', completed_at = r.at, updated_at = r.at, due_at = null, lock_token = null,
    lock_expires_at = null, version = t.version + 1
  from r
  cross join lateral (
    select p.id from workflow_external_tasks as p
    where p.step_execution_id = r.step_execution_id and p.tenant = r.tenant and p.status in ('PENDING', 'LOCKED')
    offset 0
  ) as o
  where t.id = o.id and t.status not in ('COMPLETED', 'FAILED', 'CANCELLED')
), timers as (
  delete from workflow_timers as t using r
  where t.step_execution_id = r.step_execution_id and (t.tenant = r.tenant) is true and not t.triggered
), subscriptions as (
  delete from workflow_subscriptions as t using r where t.step_execution_id = r.step_execution_id and t.tenant = r.tenant
), waits as (
  update execution_wait_states as t set status = 'cancelled', updated_at = r.at, version = t.version + 1
  from r
  where t.id = r.step_execution_id::text and (t.tenant = r.tenant) is true and (t.status = 'waiting') is true
)
delete from workflow_events as t using r where t.step_execution_id = r.step_execution_id and t.tenant = r.tenant
