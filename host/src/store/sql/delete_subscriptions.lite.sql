-- Subscriptions end, by the key that their plugin chose.
delete from workflow_subscriptions
where id in (
  select t.id from json_each(?1) as r
  join workflow_subscriptions as t
    on t.step_execution_id = r.value ->> 'step_execution_id' and t.key = r.value ->> 'key'
    and t.tenant = r.value ->> 'tenant'
)
