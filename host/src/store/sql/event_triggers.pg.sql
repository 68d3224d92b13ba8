-- What events of some topics start, of one tenant or of all.
select row_to_json(t)::text
from workflow_event_triggers as t
where t.topic in (select n from json_array_elements_text($1::json -> 'topics') as n)
  and ($1::json ->> 'tenant' is null or t.tenant = $1::json ->> 'tenant')
order by t.tenant, t.workflow_key, t.trigger_id
limit ($1::json ->> 'rows_max')::bigint
