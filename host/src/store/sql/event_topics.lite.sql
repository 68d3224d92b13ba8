-- Every topic that a workflow names, over all tenants, sorted.
select json_quote(c.topic)
from (select topic from workflow_topics union select topic from workflow_event_triggers) as c
where ?1 is not null
order by c.topic
