-- A wait.
select json_object(
  'id', t.id, 'tenant', t.tenant, 'execution_id', t.execution_id, 'node_id', t.node_id, 'attempt', t.attempt,
  'correlation_id', t.correlation_id, 'aggregation_strategy', t.aggregation_strategy, 'required_events',
  json(t.required_events), 'enabled_events', json(t.enabled_events), 'api_call_enabled',
  json(iif(t.api_call_enabled, 'true', 'false')), 'kafka_event_enabled', json(iif(t.kafka_event_enabled,
  'true', 'false')), 'api_response_data', json(t.api_response_data), 'kafka_event_data',
  json(t.kafka_event_data), 'event_data', json(t.event_data), 'received_events', json(t.received_events),
  'listeners', json(t.listeners), 'status', t.status, 'warning', t.warning, 'resumed_at', t.resumed_at,
  'resumed_by', t.resumed_by, 'version', t.version, 'created_at', t.created_at, 'updated_at', t.updated_at,
  'expires_at', t.expires_at
)
from execution_wait_states as t
where t.tenant = ?1 ->> 'tenant' and t.id = ?1 ->> 'id'
