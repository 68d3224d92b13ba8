-- Which subscriptions are still there, locked in id order.
select json_object('id', t.id, 'tenant', t.tenant, 'found', json('true'))
from json_each(?1) as r
join workflow_subscriptions as t on t.id = r.value ->> 'id' and t.tenant = r.value ->> 'tenant'
