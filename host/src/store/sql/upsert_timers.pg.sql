-- Timers, new or moved. A timer that has fired leaves its key free.
insert into workflow_timers (
  id, tenant, workflow_instance_id, step_execution_id, step_id, key, timer_type, trigger_at, triggered,
  triggered_at, reminder_config, created_at, due_at
)
select
  r.id, r.tenant, r.workflow_instance_id, r.step_execution_id, r.step_id, r.key, r.timer_type, r.trigger_at,
  r.triggered, r.triggered_at, r.reminder_config, r.created_at,
  case when r.triggered then null else r.trigger_at end
from unnest(
  $1::uuid[], $2::text[], $3::uuid[], $4::uuid[], $5::text[], $6::text[], $7::text[], $8::timestamptz[],
  $9::boolean[], $10::timestamptz[], $11::text[]::jsonb[], $12::timestamptz[]
) as r (
  id, tenant, workflow_instance_id, step_execution_id, step_id, key, timer_type, trigger_at, triggered,
  triggered_at, reminder_config, created_at
)
on conflict (step_execution_id, key) where not triggered do update set
  timer_type = excluded.timer_type, trigger_at = excluded.trigger_at,
  reminder_config = excluded.reminder_config, created_at = excluded.created_at, due_at = excluded.due_at
