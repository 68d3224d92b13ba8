-- Steps ended: their open tasks are cancelled, their timers, subscriptions and events removed. The rows of
-- the steps themselves are written by upsert_steps.
with r as materialized (
  select * from json_to_recordset($1::json) as r (tenant text, step_execution_id uuid, at timestamptz)
), tasks as (
  update workflow_external_tasks as t set
    status = 'CANCELLED', completed_at = r.at, updated_at = r.at, due_at = null, lock_token = null,
    lock_expires_at = null, version = t.version + 1
  from r where t.step_execution_id = r.step_execution_id and t.tenant = r.tenant and t.status in ('PENDING', 'LOCKED')
), timers as (
  delete from workflow_timers as t using r
  where t.step_execution_id = r.step_execution_id and t.tenant = r.tenant and not t.triggered
), subscriptions as (
  delete from workflow_subscriptions as t using r where t.step_execution_id = r.step_execution_id and t.tenant = r.tenant
)
delete from workflow_events as t using r where t.step_execution_id = r.step_execution_id and t.tenant = r.tenant
