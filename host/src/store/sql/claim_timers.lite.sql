-- Takes timers that are due, under a lease. trigger_at stays: it is what the guard compares.
update workflow_timers as t set due_at = ?1 ->> 'lease_until'
where t.id in (
  select t.id from workflow_timers as t
  where t.due_at <= ?1 ->> 'now'
  order by t.due_at
  limit ?1 ->> 'rows_max'
)
returning json_object(
  'id', id, 'tenant', tenant, 'workflow_instance_id', workflow_instance_id,
  'step_execution_id', step_execution_id, 'step_id', step_id, 'key', key, 'timer_type', timer_type,
  'trigger_at', trigger_at, 'triggered', json(iif(triggered, 'true', 'false')),
  'triggered_at', triggered_at, 'reminder_config', json(reminder_config), 'created_at', created_at
)
