-- The waits that some events are for; of several attempts under one id, the newest first. The key leads to the row.
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
from (
  select distinct
    value ->> 'tenant' as tenant, value ->> 'execution_id' as execution_id,
    value ->> 'correlation_id' as correlation_id
  from json_each(?1)
) as r
cross join execution_wait_states as t
  on t.execution_id = r.execution_id and t.correlation_id = r.correlation_id and t.tenant = r.tenant
order by t.attempt desc, t.id desc
