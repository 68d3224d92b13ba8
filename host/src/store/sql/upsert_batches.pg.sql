-- Batches, new or further.
insert into workflow_batches (
  id, tenant, kind, retries, task_ids, done, failed, created_at, finished_at, due_at
)
select r.id, r.tenant, r.kind, r.retries, r.task_ids, r.done, r.failed, r.created_at, r.finished_at, r.due_at
from json_to_recordset($1::json) as r (
  id uuid, tenant text, kind text, retries integer, task_ids text, done integer, failed integer,
  created_at timestamptz, finished_at timestamptz, due_at timestamptz
)
on conflict (id) do update set
  done = excluded.done, failed = excluded.failed, finished_at = excluded.finished_at, due_at = excluded.due_at
where workflow_batches.tenant = excluded.tenant and workflow_batches.finished_at is null
