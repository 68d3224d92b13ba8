-- The newest execution of the step that each timer belongs to, each once.
select json_object(
  'id', t.id, 'tenant', t.tenant, 'instance_id', t.instance_id, 'step_id', t.step_id, 'attempt', t.attempt,
  'step_type', t.step_type, 'status', t.status, 'plugin_digest', t.plugin_digest, 'config', t.config,
  'state', t.state, 'state_version', t.state_version, 'seq', t.seq, 'effect_keys', json(t.effect_keys),
  'arrived', t.arrived, 'arrived_live', t.arrived_live, 'output', json(t.output), 'error', json(t.error),
  'started_at', t.started_at, 'ended_at', t.ended_at
)
from (
  select distinct value ->> 'workflow_instance_id' as instance_id, value ->> 'step_id' as step_id,
    value ->> 'tenant' as tenant
  from json_each(?1)
) as r
cross join workflow_steps as t
  on t.instance_id = r.instance_id and t.step_id = r.step_id and t.tenant = r.tenant
where not exists (
  select 1 from workflow_steps as n
  where n.instance_id = t.instance_id and n.tenant = t.tenant and n.step_id = t.step_id
    and n.attempt > t.attempt
)
