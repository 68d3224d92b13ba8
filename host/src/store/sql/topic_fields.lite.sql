-- Where events of some topics have their ids, of one tenant or of all.
select json_object(
  'tenant', t.tenant, 'topic', t.topic, 'correlation_field', t.correlation_field, 'execution_field',
  t.execution_field
)
from workflow_topics as t
where t.topic in (select n.value from json_each(?1, '$.topics') as n)
  and (?1 ->> 'tenant' is null or t.tenant = ?1 ->> 'tenant')
order by t.topic, t.tenant, t.correlation_field, t.execution_field
limit ?1 ->> 'rows_max'
