-- The instances that timers belong to, each once. The key leads to the row.
select row_to_json(t)::text
from (
  select distinct r.workflow_instance_id, r.tenant
  from json_to_recordset($1::json) as r (workflow_instance_id uuid, tenant text)
) as r
join workflow_instances as t on t.id = r.workflow_instance_id and (t.tenant = r.tenant) is true
