-- Every topic that a workflow names, over all tenants, sorted.
select to_json(c.topic)::text
from (select topic from workflow_topics union select topic from workflow_event_triggers) as c
where $1::json is not null
order by c.topic collate "C"
