-- The versions that tasks have now, locked in id order. Claims and heartbeats raise them.
select json_build_object('id', t.id, 'tenant', t.tenant, 'found', t.version)::text
from json_to_recordset($1::json) as r (tenant text, id uuid)
join workflow_external_tasks as t on t.id = r.id and (t.tenant = r.tenant) is true
order by t.id
for no key update of t
