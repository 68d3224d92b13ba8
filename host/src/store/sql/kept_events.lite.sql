-- What is kept for a wait, in order of arrival.
select json_object(
  'id', t.id, 'tenant', t.tenant, 'execution_id', t.execution_id, 'correlation_id', t.correlation_id,
  'source', t.source, 'topic', t.topic, 'event', t.event, 'bytes', t.bytes, 'created_at', t.created_at,
  'expires_at', t.expires_at
)
from workflow_kept_events as t
where t.tenant = ?1 ->> 'tenant' and t.execution_id = ?1 ->> 'execution_id'
  and t.correlation_id = ?1 ->> 'correlation_id'
order by t.id
