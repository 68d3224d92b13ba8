-- When timers that have not fired are due, locked in id order. The key leads to the row.
select json_build_object('id', t.id, 'tenant', t.tenant, 'found', t.trigger_at)::text
from json_to_recordset($1::json) as r (tenant text, id uuid)
join workflow_timers as t on t.id = r.id and (t.tenant = r.tenant) is true
where (not t.triggered) is true
order by t.id
for no key update of t
