-- All step executions of an instance, all attempts.
select row_to_json(t)::text
from workflow_steps as t
where t.instance_id = ($1::json ->> 'instance_id')::uuid and t.tenant = $1::json ->> 'tenant'
order by t.id
