-- Timers are withdrawn by the key that their plugin chose, if they have not fired.
-- From the key to the row, whatever the planner thinks of a table that was empty a moment ago.
delete from workflow_timers as t
using unnest($1::workflow_cancel_timers_row[]) as r
where t.step_execution_id = r.step_execution_id and t.key = r.key and (t.tenant = r.tenant) is true
  and not t.triggered
