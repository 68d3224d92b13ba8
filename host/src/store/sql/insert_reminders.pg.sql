-- Tries of notes to people.
insert into workflow_timer_reminders (
  id, tenant, timer_id, workflow_instance_id, step_execution_id, step_id, key, attempt, sender, channel, recipients,
  message, sent_at, status, error_message, created_at
)
select
  r.id, r.tenant, r.timer_id, r.workflow_instance_id, r.step_execution_id, r.step_id, r.key, r.attempt, r.sender,
  r.channel, r.recipients, r.message, r.sent_at, r.status, r.error_message, r.created_at
from json_to_recordset($1::json) as r (
  id uuid, tenant text, timer_id uuid, workflow_instance_id uuid, step_execution_id uuid, step_id text, key text,
  attempt integer, sender text, channel text, recipients jsonb, message text, sent_at timestamptz, status text,
  error_message text, created_at timestamptz
)
on conflict (id) do nothing
