-- Events that were refused.
insert into workflow_rejected_events (
  id, tenant, source, topic, reason, detail, execution_id, correlation_id, created_at
)
select
  r.value ->> 'id', r.value ->> 'tenant', r.value ->> 'source', r.value ->> 'topic', r.value ->> 'reason',
  r.value ->> 'detail', r.value ->> 'execution_id', r.value ->> 'correlation_id', r.value ->> 'created_at'
from json_each(?1) as r
