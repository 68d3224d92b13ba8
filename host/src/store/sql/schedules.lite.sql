-- Schedules, newest first. Planned anew for each call, so that filters that are absent fall away.
select json_object(
  'id', t.id, 'tenant', t.tenant, 'workflow_key', t.workflow_key, 'workflow_version', t.workflow_version,
  'trigger_id', t.trigger_id, 'cron', t.cron, 'time_zone', t.time_zone, 'misfire', t.misfire,
  'overlap', t.overlap, 'context', json(t.context), 'paused', json(iif(t.paused, 'true', 'false')),
  'next_at', t.next_at, 'queued_until', t.queued_until, 'made_up', t.made_up, 'last_at', t.last_at,
  'last_instance_id', t.last_instance_id, 'last_error', t.last_error, 'due_at', t.due_at,
  'version', t.version, 'created_at', t.created_at, 'updated_at', t.updated_at
)
from workflow_schedules as t
where t.tenant = ?1 ->> 'tenant'
  and (?1 ->> 'workflow_key' is null or t.workflow_key = ?1 ->> 'workflow_key')
  and (?1 ->> 'after' is null or t.id < ?1 ->> 'after')
order by t.id desc
limit ?1 ->> 'rows_max'
