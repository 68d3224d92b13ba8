-- Events that were refused.
insert into workflow_rejected_events (
  id, tenant, source, topic, reason, detail, execution_id, correlation_id, created_at
)
select
  r.id, r.tenant, r.source, r.topic, r.reason, r.detail, r.execution_id, r.correlation_id, r.created_at
from json_to_recordset($1::json) as r (
  id uuid, tenant text, source text, topic text, reason text, detail text, execution_id text, correlation_id text,
  created_at timestamptz
)
