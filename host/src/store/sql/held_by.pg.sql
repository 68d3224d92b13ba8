-- Tasks that a worker holds. Rarely asked for: an index of their own would cost every claim.
select to_json(t.id)::text
from workflow_external_tasks as t
where t.status = 'LOCKED' and t.tenant = $1::json ->> 'tenant' and t.worker_id = $1::json ->> 'worker_id'
limit ($1::json ->> 'rows_max')::bigint
