-- Timers are withdrawn by the key that their plugin chose, if they have not fired.
delete from workflow_timers
where id in (
  select t.id from json_each(?1) as r
  join workflow_timers as t
    on t.step_execution_id = r.value ->> 'step_execution_id' and t.key = r.value ->> 'key'
    and t.tenant = r.value ->> 'tenant' and not t.triggered
)
