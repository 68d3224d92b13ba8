-- Events that their steps have not consumed yet.
insert into workflow_events (
  id, tenant, instance_id, step_execution_id, event, created_at
)
select
  r.id, r.tenant, r.instance_id, r.step_execution_id, r.event, r.created_at
from json_to_recordset($1::json) as r (
  id uuid, tenant text, instance_id uuid, step_execution_id uuid, event text, created_at timestamptz
)
