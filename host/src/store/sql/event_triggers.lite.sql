-- What events of some topics start, of one tenant or of all.
select json_object(
  'tenant', t.tenant, 'workflow_key', t.workflow_key, 'trigger_id', t.trigger_id, 'topic', t.topic, 'filter',
  json(t.filter), 'business_key_field', t.business_key_field, 'created_at', t.created_at
)
from workflow_event_triggers as t
where t.topic in (select n.value from json_each(?1, '$.topics') as n)
  and (?1 ->> 'tenant' is null or t.tenant = ?1 ->> 'tenant')
order by t.tenant, t.workflow_key, t.trigger_id
limit ?1 ->> 'rows_max'
