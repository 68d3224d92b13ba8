-- Events are no longer kept.
delete from workflow_kept_events
where id in (
  select t.id from json_each(?1) as r
  join workflow_kept_events as t on t.id = r.value ->> 'id' and t.tenant = r.value ->> 'tenant'
)
