-- A token by its public part. The tenant is what it tells.
select row_to_json(t)::text
from workflow_tokens as t
where t.id = ($1::json ->> 'id')::uuid
