-- Subscriptions that a message matches, oldest first. A subscription without a correlation takes any
-- message.
select json_object(
  'id', t.id, 'tenant', t.tenant, 'instance_id', t.instance_id, 'step_execution_id', t.step_execution_id,
  'key', t.key, 'name', t.name, 'correlation', t.correlation, 'expires_at', t.expires_at,
  'created_at', t.created_at
)
from workflow_subscriptions as t
where t.tenant = ?1 ->> 'tenant' and t.name = ?1 ->> 'name'
  and (t.correlation is null or t.correlation = ?1 ->> 'correlation')
  and (t.expires_at is null or t.expires_at > ?1 ->> 'now')
order by t.id
limit ?1 ->> 'rows_max'
