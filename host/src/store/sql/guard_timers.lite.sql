-- When timers that have not fired are due, locked in id order.
select json_object('id', t.id, 'tenant', t.tenant, 'found', t.trigger_at)
from json_each(?1) as r
join workflow_timers as t on t.id = r.value ->> 'id' and t.tenant = r.value ->> 'tenant'
where not t.triggered
