-- A worker by its name.
select row_to_json(t)::text
from workflow_external_workers as t
where t.tenant = $1::json ->> 'tenant' and t.worker_id = $1::json ->> 'worker_id'
