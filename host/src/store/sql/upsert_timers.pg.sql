-- Timers, new or moved. A timer that has fired leaves its key free.
insert into workflow_timers (
  id, tenant, workflow_instance_id, step_execution_id, step_id, key, timer_type, trigger_at, triggered,
  triggered_at, reminder_config, created_at, due_at
)
select
  r.id, r.tenant, r.workflow_instance_id, r.step_execution_id, r.step_id, r.key, r.timer_type, r.trigger_at,
  r.triggered, r.triggered_at, r.reminder_config, r.created_at,
  case when r.triggered then null else r.trigger_at end
from unnest($1::workflow_upsert_timers_row[]) as r
on conflict (step_execution_id, key) where not triggered do update set
  timer_type = excluded.timer_type, trigger_at = excluded.trigger_at,
  reminder_config = excluded.reminder_config, created_at = excluded.created_at, due_at = excluded.due_at
