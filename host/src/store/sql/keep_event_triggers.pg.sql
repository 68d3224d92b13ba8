-- Workflows were deployed: triggers that they have no more are gone.
delete from workflow_event_triggers as t
using json_to_recordset($1::json) as r (tenant text, workflow_key text, trigger_ids json)
where t.tenant = r.tenant and t.workflow_key = r.workflow_key
  and not exists (select 1 from json_array_elements_text(r.trigger_ids) as kept (id) where kept.id = t.trigger_id)
