-- What starts workflows, of a version that was deployed.
insert into workflow_event_triggers (
  tenant, workflow_key, trigger_id, topic, filter, business_key_field, created_at
)
select
  r.value ->> 'tenant', r.value ->> 'workflow_key', r.value ->> 'trigger_id', r.value ->> 'topic', r.value ->
  'filter', r.value ->> 'business_key_field', r.value ->> 'created_at'
from json_each(?1) as r
where true
on conflict (tenant, workflow_key, trigger_id) do update set
  topic = excluded.topic, filter = excluded.filter, business_key_field = excluded.business_key_field,
  created_at = excluded.created_at
