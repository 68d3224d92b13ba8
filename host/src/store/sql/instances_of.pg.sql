-- Some instances, in any order.
select row_to_json(t)::text
from workflow_instances as t
where t.tenant = $1::json ->> 'tenant'
  and t.id in (select e::uuid from json_array_elements_text($1::json -> 'ids') as e)
