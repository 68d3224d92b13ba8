-- Refused events, newest first. Planned anew for each call, so that filters that are absent fall away.
select json_object(
  'id', t.id, 'tenant', t.tenant, 'source', t.source, 'topic', t.topic, 'reason', t.reason, 'detail',
  t.detail, 'execution_id', t.execution_id, 'correlation_id', t.correlation_id, 'created_at', t.created_at
)
from workflow_rejected_events as t
where t.tenant = ?1 ->> 'tenant'
  and (?1 ->> 'after' is null or t.id < ?1 ->> 'after')
order by t.id desc
limit ?1 ->> 'rows_max'
