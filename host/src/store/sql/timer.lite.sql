-- A timer.
select json_object(
  'id', t.id, 'tenant', t.tenant, 'workflow_instance_id', t.workflow_instance_id,
  'step_execution_id', t.step_execution_id, 'step_id', t.step_id, 'key', t.key, 'timer_type', t.timer_type,
  'trigger_at', t.trigger_at, 'triggered', json(iif(t.triggered, 'true', 'false')),
  'triggered_at', t.triggered_at, 'reminder_config', json(t.reminder_config), 'created_at', t.created_at
)
from workflow_timers as t
where t.id = ?1 ->> 'id' and t.tenant = ?1 ->> 'tenant'
