-- Timers, new or moved. A timer that has fired leaves its key free.
with r as materialized (select jsonb(value) as value from json_each(?1))
insert into workflow_timers (
  id, tenant, workflow_instance_id, step_execution_id, step_id, key, timer_type, trigger_at, triggered,
  triggered_at, reminder_config, created_at, due_at
)
select
  r.value ->> 'id', r.value ->> 'tenant', r.value ->> 'workflow_instance_id',
  r.value ->> 'step_execution_id', r.value ->> 'step_id', r.value ->> 'key', r.value ->> 'timer_type',
  r.value ->> 'trigger_at', r.value ->> 'triggered', r.value ->> 'triggered_at',
  nullif(r.value -> 'reminder_config', 'null'), r.value ->> 'created_at',
  iif(r.value ->> 'triggered', null, r.value ->> 'trigger_at')
from r
where true
on conflict (step_execution_id, key) where not triggered do update set
  timer_type = excluded.timer_type, trigger_at = excluded.trigger_at,
  reminder_config = excluded.reminder_config, created_at = excluded.created_at, due_at = excluded.due_at
