-- All step executions of an instance, all attempts.
select json_object(
  'id', t.id, 'tenant', t.tenant, 'instance_id', t.instance_id, 'step_id', t.step_id, 'attempt', t.attempt,
  'step_type', t.step_type, 'status', t.status, 'plugin_digest', t.plugin_digest, 'config', t.config,
  'state', t.state, 'state_version', t.state_version, 'seq', t.seq, 'effect_keys', json(t.effect_keys),
  'arrived', t.arrived, 'arrived_live', t.arrived_live, 'output', json(t.output), 'error', json(t.error),
  'started_at', t.started_at, 'ended_at', t.ended_at
)
from workflow_steps as t
where t.instance_id = ?1 ->> 'instance_id' and t.tenant = ?1 ->> 'tenant'
order by t.id
