-- Topics that workflows name; the same again is left as it is.
insert into workflow_topics (tenant, topic, correlation_field, execution_field)
select r.tenant, r.topic, r.correlation_field, r.execution_field
from json_to_recordset($1::json) as r (tenant text, topic text, correlation_field text, execution_field text)
on conflict do nothing
