-- Parts of an instance's journal, by hash.
select json_object(
  'tenant', t.tenant, 'instance_id', t.instance_id, 'hash', t.hash, 'body', t.body
)
from workflow_blobs as t
where t.tenant = ?1 ->> 'tenant' and t.instance_id = ?1 ->> 'instance_id'
  and t.hash in (select value from json_each(?1 -> 'hashes'))
