-- Open timers of an instance, the next first.
select row_to_json(t)::text
from workflow_timers as t
where t.workflow_instance_id = ($1::json ->> 'instance_id')::uuid and t.tenant = $1::json ->> 'tenant' and not t.triggered
order by t.trigger_at, t.id
