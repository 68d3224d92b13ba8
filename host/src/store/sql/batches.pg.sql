-- Batches of a tenant, newest first.
select json_build_object(
  'id', t.id, 'tenant', t.tenant, 'kind', t.kind, 'retries', t.retries, 'task_ids', t.task_ids::json, 'done', t.done,
  'failed', t.failed, 'created_at', t.created_at, 'finished_at', t.finished_at, 'due_at', t.due_at
)::text
from workflow_batches as t
where t.tenant = $1::json ->> 'tenant' and ($1::json ->> 'id' is null or t.id = ($1::json ->> 'id')::uuid)
order by t.id desc
limit 500
