-- Step executions, new or changed.
insert into workflow_steps (
  id, tenant, instance_id, step_id, attempt, step_type, status, plugin_digest, config, state, state_version,
  seq, effect_keys, arrived, arrived_live, output, error, started_at, ended_at
)
select
  r.id, r.tenant, r.instance_id, r.step_id, r.attempt, r.step_type, r.status, r.plugin_digest, r.config,
  r.state, r.state_version, r.seq, coalesce(r.effect_keys, 'null'), r.arrived, r.arrived_live, r.output,
  r.error, r.started_at, r.ended_at
from unnest($1::workflow_upsert_steps_row[]) as r
on conflict (id) do update set
  status = excluded.status, plugin_digest = excluded.plugin_digest, config = excluded.config,
  state = excluded.state, state_version = excluded.state_version, seq = excluded.seq,
  effect_keys = excluded.effect_keys, arrived = excluded.arrived, arrived_live = excluded.arrived_live,
  output = excluded.output, error = excluded.error, started_at = excluded.started_at,
  ended_at = excluded.ended_at
where workflow_steps.tenant = excluded.tenant
