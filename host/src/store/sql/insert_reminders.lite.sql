-- Tries of notes to people.
insert into workflow_timer_reminders (
  id, tenant, timer_id, workflow_instance_id, step_execution_id, step_id, key, attempt, sender, channel, recipients,
  message, sent_at, status, error_message, created_at
)
select
  r.value ->> 'id', r.value ->> 'tenant', r.value ->> 'timer_id', r.value ->> 'workflow_instance_id',
  r.value ->> 'step_execution_id', r.value ->> 'step_id', r.value ->> 'key', r.value ->> 'attempt',
  r.value ->> 'sender', r.value ->> 'channel', r.value -> 'recipients', r.value ->> 'message',
  r.value ->> 'sent_at', r.value ->> 'status', r.value ->> 'error_message', r.value ->> 'created_at'
from json_each(?1) as r
where true
on conflict (id) do nothing
