-- Contexts changed. Apart from update_instances, since most transitions leave the context alone.
update workflow_instances as t set
  context = coalesce(r.context, 'null')
from json_to_recordset($1::json) as r (
  id uuid, tenant text, context jsonb
)
where t.id = r.id and t.tenant = r.tenant
