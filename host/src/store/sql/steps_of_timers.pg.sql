-- The newest execution of the step that each timer belongs to, each once.
select row_to_json(t)::text
from (
  select distinct r.workflow_instance_id, r.step_id, r.tenant
  from json_to_recordset($1::json) as r (workflow_instance_id uuid, step_id text, tenant text)
) as r
join workflow_steps as t
  on t.instance_id = r.workflow_instance_id and t.step_id = r.step_id and (t.tenant = r.tenant) is true
where not exists (
  select 1 from workflow_steps as n
  where n.instance_id = t.instance_id and n.step_id = t.step_id and n.attempt > t.attempt
    and (n.tenant = t.tenant) is true
)
