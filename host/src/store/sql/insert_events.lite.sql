-- Events that their steps have not consumed yet.
insert into workflow_events (
  id, tenant, instance_id, step_execution_id, event, created_at
)
select
  r.value ->> 'id', r.value ->> 'tenant', r.value ->> 'instance_id', r.value ->> 'step_execution_id',
  r.value ->> 'event', r.value ->> 'created_at'
from json_each(?1) as r
