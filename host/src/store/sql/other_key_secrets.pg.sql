-- Secrets of all tenants that are under another key, for whoever changes keys.
select row_to_json(t)::text
from workflow_secrets as t
where t.key_id <> $1::json ->> 'key_id'
  and (t.tenant, t.name) > (coalesce($1::json ->> 'after_tenant', ''), coalesce($1::json ->> 'after_name', ''))
order by t.tenant, t.name
limit ($1::json ->> 'rows_max')::bigint
