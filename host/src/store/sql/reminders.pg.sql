-- Tries of notes to people, newest first. Planned anew for each call, so that filters that are absent fall away.
select row_to_json(t)::text
from workflow_timer_reminders as t
where t.tenant = $1::json ->> 'tenant'
  and (($1::json ->> 'instance_id')::uuid is null or t.workflow_instance_id = ($1::json ->> 'instance_id')::uuid)
  and ($1::json ->> 'status' is null or t.status = $1::json ->> 'status')
  and (($1::json ->> 'after')::uuid is null or t.id < ($1::json ->> 'after')::uuid)
order by t.id desc
limit ($1::json ->> 'rows_max')::bigint
