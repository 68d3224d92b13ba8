-- Secrets of a tenant by name, sealed; some of them, if names are given.
select json_object(
  'tenant', t.tenant, 'name', t.name, 'sealed', t.sealed, 'key_id', t.key_id, 'hosts', json(t.hosts),
  'version', t.version, 'created_at', t.created_at, 'updated_at', t.updated_at
)
from workflow_secrets as t
where t.tenant = ?1 ->> 'tenant'
  and (?1 ->> 'names' is null or t.name in (select n.value from json_each(?1, '$.names') as n))
order by t.name
