-- Tokens of a tenant, oldest first.
select row_to_json(t)::text
from workflow_tokens as t
where t.tenant = $1::json ->> 'tenant'
order by t.id
