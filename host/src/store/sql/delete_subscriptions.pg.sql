-- Subscriptions end, by the key that their plugin chose.
delete from workflow_subscriptions as t
using json_to_recordset($1::json) as r (tenant text, step_execution_id uuid, key text, at timestamptz)
where t.step_execution_id = r.step_execution_id and t.key = r.key and t.tenant = r.tenant
