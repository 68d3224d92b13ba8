-- Step executions, new or changed.
with r as materialized (select jsonb(value) as value from json_each(?1))
insert into workflow_steps (
  id, tenant, instance_id, step_id, attempt, step_type, status, plugin_digest, config, state, state_version,
  seq, effect_keys, arrived, arrived_live, output, error, started_at, ended_at
)
select
  r.value ->> 'id', r.value ->> 'tenant', r.value ->> 'instance_id', r.value ->> 'step_id',
  r.value ->> 'attempt', r.value ->> 'step_type', r.value ->> 'status', r.value ->> 'plugin_digest',
  r.value ->> 'config', r.value ->> 'state', r.value ->> 'state_version', r.value ->> 'seq',
  r.value -> 'effect_keys', r.value ->> 'arrived', r.value ->> 'arrived_live',
  nullif(r.value -> 'output', 'null'), nullif(r.value -> 'error', 'null'), r.value ->> 'started_at',
  r.value ->> 'ended_at'
from r
where true
on conflict (id) do update set
  status = excluded.status, plugin_digest = excluded.plugin_digest, config = excluded.config,
  state = excluded.state, state_version = excluded.state_version, seq = excluded.seq,
  effect_keys = excluded.effect_keys, arrived = excluded.arrived, arrived_live = excluded.arrived_live,
  output = excluded.output, error = excluded.error, started_at = excluded.started_at,
  ended_at = excluded.ended_at
where workflow_steps.tenant = excluded.tenant
