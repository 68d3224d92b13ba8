-- A version of a workflow, the newest unless one is named.
select json_object(
  'tenant', t.tenant, 'key', t.key, 'version', t.version, 'name', t.name, 'digest', t.digest,
  'source', t.source, 'document', json(t.document), 'created_at', t.created_at
)
from workflow_definitions as t
where t.tenant = ?1 ->> 'tenant' and t.key = ?1 ->> 'key'
  and (?1 ->> 'version' is null or t.version = ?1 ->> 'version')
order by t.version desc
limit 1
