-- Where events of some topics have their ids, of one tenant or of all.
select row_to_json(t)::text
from workflow_topics as t
where t.topic in (select n from json_array_elements_text($1::json -> 'topics') as n)
  and ($1::json ->> 'tenant' is null or t.tenant = $1::json ->> 'tenant')
order by t.topic, t.tenant, t.correlation_field, t.execution_field
limit ($1::json ->> 'rows_max')::bigint
