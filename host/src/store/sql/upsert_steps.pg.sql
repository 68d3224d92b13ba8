-- Step executions, new or changed.
insert into workflow_steps (
  id, tenant, instance_id, step_id, attempt, step_type, status, plugin_digest, config, state, state_version,
  seq, effect_keys, arrived, arrived_live, output, error, started_at, ended_at
)
select
  r.id, r.tenant, r.instance_id, r.step_id, r.attempt, r.step_type, r.status, r.plugin_digest, r.config,
  r.state, r.state_version, r.seq, coalesce(r.effect_keys, 'null'), r.arrived, r.arrived_live, r.output,
  r.error, r.started_at, r.ended_at
from json_to_recordset($1::json) as r (
  id uuid, tenant text, instance_id uuid, step_id text, attempt integer, step_type text, status text,
  plugin_digest text, config text, state text, state_version integer, seq bigint, effect_keys jsonb,
  arrived integer, arrived_live integer, output jsonb, error jsonb, started_at timestamptz,
  ended_at timestamptz
)
on conflict (id) do update set
  status = excluded.status, plugin_digest = excluded.plugin_digest, config = excluded.config,
  state = excluded.state, state_version = excluded.state_version, seq = excluded.seq,
  effect_keys = excluded.effect_keys, arrived = excluded.arrived, arrived_live = excluded.arrived_live,
  output = excluded.output, error = excluded.error, started_at = excluded.started_at,
  ended_at = excluded.ended_at
where workflow_steps.tenant = excluded.tenant
