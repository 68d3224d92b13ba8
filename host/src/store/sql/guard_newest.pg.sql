-- The newest versions of workflows, as starts rely on them. Nothing is locked: a version that comes a moment later
-- was not there for them.
select json_build_object('id', r.key, 'tenant', r.tenant, 'found', coalesce((
  select max(d.version) from workflow_definitions as d where d.tenant = r.tenant and d.key = r.key
), 0))::text
from json_to_recordset($1::json) as r (tenant text, key text)
