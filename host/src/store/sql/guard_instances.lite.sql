-- The versions that instances have now, locked in id order so that two batches never wait for each other in
-- a circle.
select json_object('id', t.id, 'tenant', t.tenant, 'found', t.version)
from json_each(?1) as r
join workflow_instances as t on t.id = r.value ->> 'id' and t.tenant = r.value ->> 'tenant'
