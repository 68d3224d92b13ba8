-- The instance that was started with an idempotency key.
select row_to_json(t)::text
from workflow_start_keys as t
where t.tenant = $1::json ->> 'tenant' and t.workflow_key = $1::json ->> 'workflow_key' and t.key = $1::json ->> 'key'
