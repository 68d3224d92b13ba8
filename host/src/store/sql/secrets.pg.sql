-- Secrets of a tenant by name, sealed; some of them, if names are given.
select row_to_json(t)::text
from workflow_secrets as t
where t.tenant = $1::json ->> 'tenant'
  and (
    $1::json ->> 'names' is null
    or t.name in (select n from json_array_elements_text($1::json -> 'names') as n)
  )
order by t.name
