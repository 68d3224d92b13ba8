-- Topics that workflows name; the same again is left as it is.
insert into workflow_topics (tenant, topic, correlation_field, execution_field)
select r.value ->> 'tenant', r.value ->> 'topic', r.value ->> 'correlation_field', r.value ->> 'execution_field'
from json_each(?1) as r
where true
on conflict do nothing
