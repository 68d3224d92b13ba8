-- What starts workflows, of a version that was deployed.
insert into workflow_event_triggers (
  tenant, workflow_key, trigger_id, topic, filter, business_key_field, created_at
)
select
  r.tenant, r.workflow_key, r.trigger_id, r.topic, r.filter, r.business_key_field, r.created_at
from json_to_recordset($1::json) as r (
  tenant text, workflow_key text, trigger_id text, topic text, filter jsonb, business_key_field text,
  created_at timestamptz
)
on conflict (tenant, workflow_key, trigger_id) do update set
  topic = excluded.topic, filter = excluded.filter, business_key_field = excluded.business_key_field,
  created_at = excluded.created_at
