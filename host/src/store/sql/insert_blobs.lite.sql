-- Big parts of the journal. The same hash is the same text: a second insert changes nothing.
with r as materialized (select jsonb(value) as value from json_each(?1))
insert into workflow_blobs (
  tenant, instance_id, hash, body
)
select
  r.value ->> 'tenant', r.value ->> 'instance_id', r.value ->> 'hash', r.value ->> 'body'
from r
where true
on conflict (tenant, instance_id, hash) do nothing
