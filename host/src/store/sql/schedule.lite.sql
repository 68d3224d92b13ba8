-- A schedule.
select json_object(
  'id', t.id, 'tenant', t.tenant, 'workflow_key', t.workflow_key, 'workflow_version', t.workflow_version,
  'trigger_id', t.trigger_id, 'cron', t.cron, 'time_zone', t.time_zone, 'misfire', t.misfire,
  'overlap', t.overlap, 'context', json(t.context), 'paused', json(iif(t.paused, 'true', 'false')),
  'next_at', t.next_at, 'queued_until', t.queued_until, 'made_up', t.made_up, 'last_at', t.last_at,
  'last_instance_id', t.last_instance_id, 'last_error', t.last_error, 'due_at', t.due_at,
  'version', t.version, 'created_at', t.created_at, 'updated_at', t.updated_at
)
from workflow_schedules as t
where t.id = ?1 ->> 'id' and t.tenant = ?1 ->> 'tenant'
