-- Subscriptions that a message matches, oldest first. A subscription without a correlation takes any
-- message. In two parts, so that both go by the index: thousands may wait for one name.
select json_object(
  'id', t.id, 'tenant', t.tenant, 'instance_id', t.instance_id, 'step_execution_id', t.step_execution_id,
  'key', t.key, 'name', t.name, 'correlation', t.correlation, 'expires_at', t.expires_at,
  'created_at', t.created_at
)
from workflow_subscriptions as t
where t.id in (
    select m.id from workflow_subscriptions as m
    where m.tenant = ?1 ->> 'tenant' and m.name = ?1 ->> 'name' and m.correlation is null
    union all
    select m.id from workflow_subscriptions as m
    where m.tenant = ?1 ->> 'tenant' and m.name = ?1 ->> 'name' and m.correlation = ?1 ->> 'correlation'
  )
  and (t.expires_at is null or t.expires_at > ?1 ->> 'now')
order by t.id
limit ?1 ->> 'rows_max'
