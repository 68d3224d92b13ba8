-- Batches of a tenant, newest first.
select json_object(
  'id', t.id, 'tenant', t.tenant, 'kind', t.kind, 'retries', t.retries, 'task_ids', json(t.task_ids), 'done', t.done,
  'failed', t.failed, 'created_at', t.created_at, 'finished_at', t.finished_at, 'due_at', t.due_at
)
from workflow_batches as t
where t.tenant = ?1 ->> 'tenant' and (?1 ->> 'id' is null or t.id = ?1 ->> 'id')
order by t.id desc
limit 500
