-- A schedule.
select row_to_json(t)::text
from workflow_schedules as t
where t.id = ($1::json ->> 'id')::uuid and t.tenant = $1::json ->> 'tenant'
