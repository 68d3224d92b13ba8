-- What steps wait for from outside, new or changed.
insert into execution_wait_states as t (
  id, tenant, execution_id, node_id, attempt, correlation_id, aggregation_strategy, required_events,
  enabled_events, api_call_enabled, kafka_event_enabled, api_response_data, kafka_event_data, event_data,
  received_events, listeners, status, warning, resumed_at, resumed_by, created_at, updated_at, expires_at, version
)
select
  r.id::text, r.tenant, r.execution_id, r.node_id, r.attempt, r.correlation_id, r.aggregation_strategy,
  r.required_events, r.enabled_events, r.api_call_enabled, r.kafka_event_enabled, r.api_response_data,
  r.kafka_event_data, r.event_data, r.received_events, r.listeners, r.status, r.warning, r.resumed_at,
  r.resumed_by, r.created_at, r.updated_at, r.expires_at, 1
from unnest($1::workflow_upsert_waits_row[]) as r
on conflict (id) do update set
  correlation_id = excluded.correlation_id, aggregation_strategy = excluded.aggregation_strategy,
  required_events = excluded.required_events, enabled_events = excluded.enabled_events, api_call_enabled =
  excluded.api_call_enabled, kafka_event_enabled = excluded.kafka_event_enabled, api_response_data =
  excluded.api_response_data, kafka_event_data = excluded.kafka_event_data, event_data = excluded.event_data,
  received_events = excluded.received_events, listeners = excluded.listeners, status = excluded.status,
  warning = excluded.warning, resumed_at = excluded.resumed_at, resumed_by = excluded.resumed_by, updated_at =
  excluded.updated_at, expires_at = excluded.expires_at,
  version = t.version + 1
where (t.tenant = excluded.tenant) is true
