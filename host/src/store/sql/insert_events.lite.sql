-- Events that their steps have not consumed yet.
with r as materialized (select jsonb(value) as value from json_each(?1))
insert into workflow_events (
  id, tenant, instance_id, step_execution_id, event, created_at
)
select
  r.value ->> 'id', r.value ->> 'tenant', r.value ->> 'instance_id', r.value ->> 'step_execution_id',
  r.value ->> 'event', r.value ->> 'created_at'
from r
