-- Big parts of the journal. The same hash is the same text: a second insert changes nothing.
insert into workflow_blobs (
  tenant, instance_id, hash, body
)
select
  r.tenant, r.instance_id, r.hash, r.body
from unnest($1::workflow_insert_blobs_row[]) as r
on conflict (tenant, instance_id, hash) do nothing
