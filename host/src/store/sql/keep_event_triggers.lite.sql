-- Workflows were deployed: triggers that they have no more are gone.
delete from workflow_event_triggers
where rowid in (
  select t.rowid from json_each(?1) as r
  join workflow_event_triggers as t
    on t.tenant = r.value ->> 'tenant' and t.workflow_key = r.value ->> 'workflow_key'
  where t.trigger_id not in (select value from json_each(r.value -> 'trigger_ids'))
)
