-- New versions of workflows.
insert into workflow_definitions (
  tenant, key, version, name, digest, source, document, created_at
)
select
  r.tenant, r.key, r.version, r.name, r.digest, r.source, coalesce(r.document, 'null'), r.created_at
from json_to_recordset($1::json) as r (
  tenant text, key text, version integer, name text, digest text, source text, document jsonb,
  created_at timestamptz
)
