-- The newest execution of the step that each timer belongs to, each once. The way to a step begins with its tenant.
select row_to_json(t)::text
from (
  select distinct r.workflow_instance_id, r.step_id, r.tenant
  from json_to_recordset($1::json) as r (workflow_instance_id uuid, step_id text, tenant text)
) as r
join workflow_steps as t
  on t.tenant = r.tenant and t.instance_id = r.workflow_instance_id and t.step_id = r.step_id
where not exists (
  select 1 from workflow_steps as n
  where n.tenant = t.tenant and n.instance_id = t.instance_id and n.step_id = t.step_id and n.attempt > t.attempt
)
