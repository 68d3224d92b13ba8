-- The newest execution of each named step of an instance.
select row_to_json(t)::text
from workflow_steps as t
where t.instance_id = ($1::json ->> 'instance_id')::uuid and t.tenant = $1::json ->> 'tenant'
  and t.step_id in (select json_array_elements_text($1::json -> 'step_ids'))
  and not exists (
    select 1 from workflow_steps as n
    where n.instance_id = t.instance_id and n.tenant = t.tenant and n.step_id = t.step_id
      and n.attempt > t.attempt
  )
order by t.id
