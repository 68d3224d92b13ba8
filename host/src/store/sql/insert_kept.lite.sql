-- Events that came before the wait that they are for.
insert into workflow_kept_events (
  id, tenant, execution_id, correlation_id, source, topic, event, bytes, created_at, expires_at
)
select
  r.value ->> 'id', r.value ->> 'tenant', r.value ->> 'execution_id', r.value ->> 'correlation_id', r.value
  ->> 'source', r.value ->> 'topic', r.value ->> 'event', r.value ->> 'bytes', r.value ->> 'created_at',
  r.value ->> 'expires_at'
from json_each(?1) as r
