-- Workflows were deployed: schedules of triggers that they have no more are gone.
delete from workflow_schedules
where id in (
  select t.id from json_each(?1) as r
  join workflow_schedules as t on t.tenant = r.value ->> 'tenant' and t.workflow_key = r.value ->> 'workflow_key'
  where t.trigger_id not in (select value from json_each(r.value -> 'trigger_ids'))
)
