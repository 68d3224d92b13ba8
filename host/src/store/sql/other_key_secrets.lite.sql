-- Secrets of all tenants that are under another key, for whoever changes keys.
select json_object(
  'tenant', t.tenant, 'name', t.name, 'sealed', t.sealed, 'key_id', t.key_id, 'hosts', json(t.hosts),
  'version', t.version, 'created_at', t.created_at, 'updated_at', t.updated_at
)
from workflow_secrets as t
where t.key_id <> ?1 ->> 'key_id'
  and (t.tenant, t.name) > (coalesce(?1 ->> 'after_tenant', ''), coalesce(?1 ->> 'after_name', ''))
order by t.tenant, t.name
limit ?1 ->> 'rows_max'
