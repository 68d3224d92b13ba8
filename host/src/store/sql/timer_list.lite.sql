-- Timers, newest first. Planned anew for each call, so that filters that are absent fall away.
select json_object(
  'id', t.id, 'tenant', t.tenant, 'workflow_instance_id', t.workflow_instance_id,
  'step_execution_id', t.step_execution_id, 'step_id', t.step_id, 'key', t.key, 'timer_type', t.timer_type,
  'trigger_at', t.trigger_at, 'triggered', json(iif(t.triggered, 'true', 'false')),
  'triggered_at', t.triggered_at, 'reminder_config', json(t.reminder_config), 'created_at', t.created_at
)
from workflow_timers as t
where t.tenant = ?1 ->> 'tenant'
  and t.triggered = (?1 ->> 'triggered')
  and (?1 ->> 'instance_id' is null or t.workflow_instance_id = ?1 ->> 'instance_id')
  and (?1 ->> 'after' is null or t.id < ?1 ->> 'after')
order by t.id desc
limit ?1 ->> 'rows_max'
