-- Versions of schedules, locked in id order.
select json_object('id', t.id, 'tenant', t.tenant, 'found', t.version)
from json_each(?1) as r
join workflow_schedules as t on t.id = r.value ->> 'id' and t.tenant = r.value ->> 'tenant'
