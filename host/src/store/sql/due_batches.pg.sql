-- Batches that nobody goes on with, of any tenant.
select json_build_object(
  'id', t.id, 'tenant', t.tenant, 'kind', t.kind, 'retries', t.retries, 'task_ids', t.task_ids::json, 'done', t.done,
  'failed', t.failed, 'created_at', t.created_at, 'finished_at', t.finished_at, 'due_at', t.due_at
)::text
from workflow_batches as t
where t.due_at <= ($1::json ->> 'now')::timestamptz
order by t.due_at
limit ($1::json ->> 'rows_max')::bigint
