-- What a claim has locked whose answer was lost: its slots have tokens that nobody else has.
select row_to_json(t)::text
from workflow_external_tasks as t
join json_array_elements($1::json -> 'slots') as s (slot) on t.lock_token = (s.slot ->> 'lock_token')::uuid
where t.status = 'LOCKED'
  and t.task_type in (select json_array_elements_text($1::json -> 'task_types'))
  and t.tenant = $1::json ->> 'tenant'
