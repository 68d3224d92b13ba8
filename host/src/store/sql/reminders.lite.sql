-- Tries of notes to people, newest first. Planned anew for each call, so that filters that are absent fall away.
select json_object(
  'id', t.id, 'tenant', t.tenant, 'timer_id', t.timer_id, 'workflow_instance_id', t.workflow_instance_id,
  'step_execution_id', t.step_execution_id, 'step_id', t.step_id, 'key', t.key, 'attempt', t.attempt,
  'sender', t.sender, 'channel', t.channel, 'recipients', json(t.recipients), 'message', t.message,
  'sent_at', t.sent_at, 'status', t.status, 'error_message', t.error_message, 'created_at', t.created_at
)
from workflow_timer_reminders as t
where t.tenant = ?1 ->> 'tenant'
  and (?1 ->> 'instance_id' is null or t.workflow_instance_id = ?1 ->> 'instance_id')
  and (?1 ->> 'status' is null or t.status = ?1 ->> 'status')
  and (?1 ->> 'after' is null or t.id < ?1 ->> 'after')
order by t.id desc
limit ?1 ->> 'rows_max'
