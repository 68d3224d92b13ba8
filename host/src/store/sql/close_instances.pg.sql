-- Instances ended: the same for all of their steps; open steps are cancelled, open incidents resolved.
with r as materialized (
  select * from json_to_recordset($1::json) as r (tenant text, instance_id uuid, at timestamptz)
), tasks as (
  update workflow_external_tasks as t set
    status = 'CANCELLED', completed_at = r.at, updated_at = r.at, due_at = null, lock_token = null,
    lock_expires_at = null, version = t.version + 1
  from r where t.workflow_instance_id = r.instance_id and t.tenant = r.tenant and t.status in ('PENDING', 'LOCKED')
), timers as (
  delete from workflow_timers as t using r
  where t.workflow_instance_id = r.instance_id and t.tenant = r.tenant and not t.triggered
), subscriptions as (
  delete from workflow_subscriptions as t using r where t.instance_id = r.instance_id and t.tenant = r.tenant
), steps as (
  update workflow_steps as t set status = 'cancelled', ended_at = r.at
  from r where t.instance_id = r.instance_id and t.tenant = r.tenant
    and t.status in ('pending', 'running', 'waiting', 'incident')
), incidents as (
  update workflow_incidents as t set resolved_at = r.at
  from r where t.instance_id = r.instance_id and t.tenant = r.tenant and t.resolved_at is null
)
delete from workflow_events as t using r where t.instance_id = r.instance_id and t.tenant = r.tenant
