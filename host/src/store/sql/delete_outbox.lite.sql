-- Outgoing items are done.
delete from workflow_outbox
where id in (
  select t.id from json_each(?1) as r
  join workflow_outbox as t on t.id = r.value ->> 'id' and t.tenant = r.value ->> 'tenant'
)
