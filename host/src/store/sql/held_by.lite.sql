-- Tasks that a worker holds. Rarely asked for: an index of their own would cost every claim.
select json_quote(t.id)
from workflow_external_tasks as t
where t.status = 'LOCKED' and t.tenant = ?1 ->> 'tenant' and t.worker_id = ?1 ->> 'worker_id'
limit ?1 ->> 'rows_max'
