-- What steps wait for from outside, new or changed.
with r as materialized (select jsonb(value) as value from json_each(?1))
insert into execution_wait_states as t (
  id, tenant, execution_id, node_id, attempt, correlation_id, aggregation_strategy, required_events,
  enabled_events, api_call_enabled, kafka_event_enabled, api_response_data, kafka_event_data, event_data,
  received_events, listeners, status, warning, resumed_at, resumed_by, created_at, updated_at, expires_at, version
)
select
  r.value ->> 'id', r.value ->> 'tenant', r.value ->> 'execution_id', r.value ->> 'node_id', r.value ->>
  'attempt', r.value ->> 'correlation_id', r.value ->> 'aggregation_strategy', nullif(r.value ->
  'required_events', 'null'), nullif(r.value -> 'enabled_events', 'null'), r.value ->> 'api_call_enabled',
  r.value ->> 'kafka_event_enabled', nullif(r.value -> 'api_response_data', 'null'), nullif(r.value ->
  'kafka_event_data', 'null'), nullif(r.value -> 'event_data', 'null'), nullif(r.value -> 'received_events',
  'null'), nullif(r.value -> 'listeners', 'null'), r.value ->> 'status', r.value ->> 'warning', r.value ->>
  'resumed_at', r.value ->> 'resumed_by', r.value ->> 'created_at', r.value ->> 'updated_at', r.value ->>
  'expires_at', 1
from r
where true
on conflict (id) do update set
  correlation_id = excluded.correlation_id, aggregation_strategy = excluded.aggregation_strategy,
  required_events = excluded.required_events, enabled_events = excluded.enabled_events, api_call_enabled =
  excluded.api_call_enabled, kafka_event_enabled = excluded.kafka_event_enabled, api_response_data =
  excluded.api_response_data, kafka_event_data = excluded.kafka_event_data, event_data = excluded.event_data,
  received_events = excluded.received_events, listeners = excluded.listeners, status = excluded.status,
  warning = excluded.warning, resumed_at = excluded.resumed_at, resumed_by = excluded.resumed_by, updated_at =
  excluded.updated_at, expires_at = excluded.expires_at,
  version = t.version + 1
where t.tenant = excluded.tenant
