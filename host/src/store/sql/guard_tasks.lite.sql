-- The versions that tasks have now, locked in id order. Claims and heartbeats raise them.
select json_object('id', t.id, 'tenant', t.tenant, 'found', t.version)
from json_each(?1) as r
join workflow_external_tasks as t on t.id = r.value ->> 'id' and t.tenant = r.value ->> 'tenant'
