-- Instances ended: the same for all of their steps; open steps are cancelled, open incidents resolved.
-- From the key to the row, whatever the planner thinks of a table that was empty a moment ago.
with r as materialized (
  select * from json_to_recordset($1::json) as r (tenant text, instance_id uuid, at timestamptz)
), tasks as (
  update workflow_external_tasks as t set
    status = 'CANCELLED', completed_at = r.at, updated_at = r.at, due_at = null, lock_token = null,
    lock_expires_at = null, version = t.version + 1
  from r
  cross join lateral (
    select p.id from workflow_external_tasks as p
    where p.workflow_instance_id = r.instance_id and p.tenant = r.tenant and p.status in ('PENDING', 'LOCKED')
    offset 0
  ) as o
  where t.id = o.id and t.status not in ('COMPLETED', 'FAILED', 'CANCELLED')
), timers as (
  delete from workflow_timers as t using r
  where t.workflow_instance_id = r.instance_id and (t.tenant = r.tenant) is true and (not t.triggered) is true
), subscriptions as (
  delete from workflow_subscriptions as t using r where t.instance_id = r.instance_id and t.tenant = r.tenant
), steps as (
  update workflow_steps as t set status = 'cancelled', ended_at = r.at
  from r
  cross join lateral (
    select p.id from workflow_steps as p where p.instance_id = r.instance_id and p.tenant = r.tenant
    offset 0
  ) as o
  where t.id = o.id and t.status not in ('completed', 'failed', 'cancelled', 'skipped')
), incidents as (
  update workflow_incidents as t set resolved_at = coalesce(t.resolved_at, r.at)
  from r
  cross join lateral (
    select p.id from workflow_incidents as p
    where p.instance_id = r.instance_id and p.tenant = r.tenant and p.resolved_at is null
    offset 0
  ) as o
  where t.id = o.id
), waits as (
  update execution_wait_states as t set status = 'cancelled', updated_at = r.at, version = t.version + 1
  from r
  cross join lateral (
    select p.id from execution_wait_states as p
    where p.execution_id = r.instance_id and (p.tenant = r.tenant) is true and p.status = 'waiting'
    offset 0
  ) as o
  where t.id = o.id and (t.status = 'waiting') is true
), kept as (
  delete from workflow_kept_events as t using r where t.execution_id = r.instance_id and (t.tenant = r.tenant) is true
)
delete from workflow_events as t using r where t.instance_id = r.instance_id and t.tenant = r.tenant
