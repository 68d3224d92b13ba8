-- Events that came before the wait that they are for.
insert into workflow_kept_events (
  id, tenant, execution_id, correlation_id, source, topic, event, bytes, created_at, expires_at
)
select
  r.id, r.tenant, r.execution_id, r.correlation_id, r.source, r.topic, r.event, r.bytes, r.created_at,
  r.expires_at
from json_to_recordset($1::json) as r (
  id uuid, tenant text, execution_id uuid, correlation_id text, source text, topic text, event text, bytes bigint,
  created_at timestamptz, expires_at timestamptz
)
