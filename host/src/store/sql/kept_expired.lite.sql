-- Events that were kept too long, over all tenants.
select json_object(
  'id', t.id, 'tenant', t.tenant, 'execution_id', t.execution_id, 'correlation_id', t.correlation_id,
  'source', t.source, 'topic', t.topic, 'event', t.event, 'bytes', t.bytes, 'created_at', t.created_at,
  'expires_at', t.expires_at
)
from workflow_kept_events as t
where t.expires_at <= ?1 ->> 'now'
order by t.expires_at
limit ?1 ->> 'rows_max'
