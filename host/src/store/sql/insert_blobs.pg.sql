-- Big parts of the journal. The same hash is the same text: a second insert changes nothing.
insert into workflow_blobs (
  tenant, instance_id, hash, body
)
select
  r.tenant, r.instance_id, r.hash, r.body
from unnest(
  $1::text[], $2::uuid[], $3::text[], $4::text[]
) as r (
  tenant, instance_id, hash, body
)
on conflict (tenant, instance_id, hash) do nothing
