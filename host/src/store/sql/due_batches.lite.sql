-- Batches that nobody goes on with, of any tenant.
select json_object(
  'id', t.id, 'tenant', t.tenant, 'kind', t.kind, 'retries', t.retries, 'task_ids', json(t.task_ids), 'done', t.done,
  'failed', t.failed, 'created_at', t.created_at, 'finished_at', t.finished_at, 'due_at', t.due_at
)
from workflow_batches as t
where t.due_at <= ?1 ->> 'now'
order by t.due_at
limit ?1 ->> 'rows_max'
