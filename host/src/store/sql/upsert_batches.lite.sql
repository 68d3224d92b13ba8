-- Batches, new or further.
insert into workflow_batches (
  id, tenant, kind, retries, task_ids, done, failed, created_at, finished_at, due_at
)
select r.value ->> 'id', r.value ->> 'tenant', r.value ->> 'kind', r.value ->> 'retries', r.value ->> 'task_ids',
  r.value ->> 'done', r.value ->> 'failed', r.value ->> 'created_at', r.value ->> 'finished_at', r.value ->> 'due_at'
from json_each(?1) as r
where true
on conflict (id) do update set
  done = excluded.done, failed = excluded.failed, finished_at = excluded.finished_at, due_at = excluded.due_at
where workflow_batches.tenant = excluded.tenant and workflow_batches.finished_at is null
