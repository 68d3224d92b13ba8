-- Takes schedules that are due, under a lease. The version stays: it is what the guard compares.
update workflow_schedules as t set due_at = ?1 ->> 'lease_until'
where t.id in (
  select t.id from workflow_schedules as t
  where t.due_at <= ?1 ->> 'now'
  order by t.due_at
  limit ?1 ->> 'rows_max'
)
returning json_object(
  'id', id, 'tenant', tenant, 'workflow_key', workflow_key, 'workflow_version', workflow_version,
  'trigger_id', trigger_id, 'cron', cron, 'time_zone', time_zone, 'misfire', misfire, 'overlap', overlap,
  'context', json(context), 'paused', json(iif(paused, 'true', 'false')), 'next_at', next_at,
  'queued_until', queued_until, 'made_up', made_up, 'last_at', last_at,
  'last_instance_id', last_instance_id, 'last_error', last_error, 'due_at', due_at, 'version', version,
  'created_at', created_at, 'updated_at', updated_at
)
