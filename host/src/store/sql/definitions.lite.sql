-- The newest version of each workflow, by key.
select json_object(
  'tenant', t.tenant, 'key', t.key, 'version', t.version, 'name', t.name, 'digest', t.digest,
  'source', t.source, 'document', json(t.document), 'created_at', t.created_at
)
from workflow_definitions as t
where t.tenant = ?1 ->> 'tenant' and (?1 ->> 'after' is null or t.key > ?1 ->> 'after')
  and not exists (
    select 1 from workflow_definitions as n
    where n.tenant = t.tenant and n.key = t.key and n.version > t.version
  )
order by t.key
limit ?1 ->> 'rows_max'
