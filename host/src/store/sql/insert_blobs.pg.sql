-- Big parts of the journal. The same hash is the same text: a second insert changes nothing.
insert into workflow_blobs (
  tenant, instance_id, hash, body
)
select
  r.tenant, r.instance_id, r.hash, r.body
from json_to_recordset($1::json) as r (
  tenant text, instance_id uuid, hash text, body text
)
on conflict (tenant, instance_id, hash) do nothing
