-- Schedules of a deployed workflow. One whose trigger was there before goes on: paused if it was, and with the same due
-- time unless it says another one now.
insert into workflow_schedules as t (
  id, tenant, workflow_key, workflow_version, trigger_id, cron, time_zone, misfire, overlap, context,
  paused, next_at, queued_until, made_up, last_at, last_instance_id, last_error, due_at, version,
  created_at, updated_at
)
select
  r.value ->> 'id', r.value ->> 'tenant', r.value ->> 'workflow_key', r.value ->> 'workflow_version',
  r.value ->> 'trigger_id', r.value ->> 'cron', r.value ->> 'time_zone', r.value ->> 'misfire',
  r.value ->> 'overlap', r.value -> 'context', r.value ->> 'paused', r.value ->> 'next_at',
  r.value ->> 'queued_until', r.value ->> 'made_up', r.value ->> 'last_at', r.value ->> 'last_instance_id',
  r.value ->> 'last_error', r.value ->> 'due_at', r.value ->> 'version', r.value ->> 'created_at',
  r.value ->> 'updated_at'
from json_each(?1) as r
where true
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
