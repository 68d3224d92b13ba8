-- Instances are removed with everything of them.
with r as materialized (
  select * from json_to_recordset($1::json) as r (tenant text, instance_id uuid)
),
d1 as (delete from workflow_external_tasks as t using r where t.workflow_instance_id = r.instance_id and t.tenant = r.tenant),
d2 as (delete from workflow_timers as t using r where t.workflow_instance_id = r.instance_id and t.tenant = r.tenant),
d3 as (delete from execution_wait_states as t using r where t.execution_id = r.instance_id and t.tenant = r.tenant),
d4 as (delete from workflow_subscriptions as t using r where t.instance_id = r.instance_id and t.tenant = r.tenant),
d5 as (delete from workflow_outbox as t using r where t.instance_id = r.instance_id and t.tenant = r.tenant),
d6 as (delete from workflow_events as t using r where t.instance_id = r.instance_id and t.tenant = r.tenant),
d7 as (delete from workflow_incidents as t using r where t.instance_id = r.instance_id and t.tenant = r.tenant),
d8 as (delete from workflow_steps as t using r where t.instance_id = r.instance_id and t.tenant = r.tenant),
d9 as (delete from workflow_start_keys as t using r where t.instance_id = r.instance_id and t.tenant = r.tenant),
d10 as (delete from workflow_journal as t using r where t.instance_id = r.instance_id and t.tenant = r.tenant),
d11 as (delete from workflow_blobs as t using r where t.instance_id = r.instance_id and t.tenant = r.tenant),
d12 as (delete from workflow_outbox_dead as t using r where t.instance_id = r.instance_id and t.tenant = r.tenant),
d13 as (delete from workflow_kept_events as t using r where t.execution_id = r.instance_id and t.tenant = r.tenant),
d14 as (delete from workflow_timer_reminders as t using r where t.workflow_instance_id = r.instance_id and t.tenant = r.tenant)
delete from workflow_instances as t using r where t.id = r.instance_id and t.tenant = r.tenant
