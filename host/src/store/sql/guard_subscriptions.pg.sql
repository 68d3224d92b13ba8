-- Which subscriptions are still there, locked in id order.
select json_build_object('id', t.id, 'tenant', t.tenant, 'found', true)::text
from json_to_recordset($1::json) as r (tenant text, id uuid)
join workflow_subscriptions as t on t.id = r.id and t.tenant = r.tenant
order by t.id
for no key update of t
