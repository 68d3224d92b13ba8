-- Timers are withdrawn by the key that their plugin chose, if they have not fired.
-- From the key to the row, whatever the planner thinks of a table that was empty a moment ago.
delete from workflow_timers as t
using json_to_recordset($1::json) as r (tenant text, step_execution_id uuid, key text, at timestamptz)
where t.step_execution_id = r.step_execution_id and t.key = r.key and (t.tenant = r.tenant) is true
  and not t.triggered
