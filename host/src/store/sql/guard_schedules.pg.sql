-- Versions of schedules, locked in id order.
select json_build_object('id', t.id, 'tenant', t.tenant, 'found', t.version)::text
from json_to_recordset($1::json) as r (tenant text, id uuid)
join workflow_schedules as t on t.id = r.id and t.tenant = r.tenant
order by t.id
for no key update of t
