-- New versions of workflows.
insert into workflow_definitions (
  tenant, key, version, name, digest, source, document, created_at
)
select
  r.value ->> 'tenant', r.value ->> 'key', r.value ->> 'version', r.value ->> 'name', r.value ->> 'digest',
  r.value ->> 'source', r.value -> 'document', r.value ->> 'created_at'
from json_each(?1) as r
