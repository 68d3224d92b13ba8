-- Senders of a tenant by name.
select json_object(
  'tenant', t.tenant, 'name', t.name, 'channel', t.channel,
  'is_default', json(iif(t.is_default, 'true', 'false')), 'settings', json(t.settings),
  'created_at', t.created_at, 'updated_at', t.updated_at
)
from workflow_senders as t
where t.tenant = ?1 ->> 'tenant'
order by t.name
