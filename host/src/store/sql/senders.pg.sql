-- Senders of a tenant by name.
select row_to_json(t)::text
from workflow_senders as t
where t.tenant = $1::json ->> 'tenant'
order by t.name
