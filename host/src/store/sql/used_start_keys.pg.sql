-- Idempotency keys that were used before, with their instances.
select row_to_json(t)::text
from json_to_recordset($1::json) as r (tenant text, workflow_key text, key text)
join workflow_start_keys as t on t.tenant = r.tenant and t.workflow_key = r.workflow_key and t.key = r.key
