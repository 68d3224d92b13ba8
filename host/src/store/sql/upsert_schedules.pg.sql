-- Schedules of a deployed workflow. One whose trigger was there before goes on: paused if it was, and with the same due
-- time unless it says another one now.
insert into workflow_schedules as t (
  id, tenant, workflow_key, workflow_version, trigger_id, cron, time_zone, misfire, overlap, context,
  paused, next_at, queued_until, made_up, last_at, last_instance_id, last_error, due_at, version,
  created_at, updated_at
)
select
  r.id, r.tenant, r.workflow_key, r.workflow_version, r.trigger_id, r.cron, r.time_zone, r.misfire,
  r.overlap, r.context, r.paused, r.next_at, r.queued_until, r.made_up, r.last_at, r.last_instance_id,
  r.last_error, r.due_at, r.version, r.created_at, r.updated_at
from json_to_recordset($1::json) as r (
  id uuid, tenant text, workflow_key text, workflow_version integer, trigger_id text, cron text,
  time_zone text, misfire text, overlap text, context jsonb, paused boolean, next_at timestamptz,
  queued_until timestamptz, made_up integer, last_at timestamptz, last_instance_id uuid, last_error
  text, due_at timestamptz, version bigint, created_at timestamptz, updated_at timestamptz
)
on conflict (tenant, workflow_key, trigger_id) do update set
  workflow_version = excluded.workflow_version, cron = excluded.cron, time_zone = excluded.time_zone,
  misfire = excluded.misfire, overlap = excluded.overlap, context = excluded.context,
  next_at = case
    when t.cron = excluded.cron and t.time_zone = excluded.time_zone then t.next_at else excluded.next_at
  end,
  due_at = case
    when t.paused then null
    when t.cron = excluded.cron and t.time_zone = excluded.time_zone then t.due_at
    else excluded.due_at
  end,
  version = t.version + 1, updated_at = excluded.updated_at
