-- Outgoing items that were given up are forgotten, or sent again.
delete from workflow_outbox_dead
where id in (
  select t.id from json_each(?1) as r
  join workflow_outbox_dead as t on t.id = r.value ->> 'id' and t.tenant = r.value ->> 'tenant'
)
