-- Parts of an instance's journal, by hash.
select row_to_json(t)::text
from workflow_blobs as t
where t.tenant = $1::json ->> 'tenant' and t.instance_id = ($1::json ->> 'instance_id')::uuid
  and t.hash in (select json_array_elements_text($1::json -> 'hashes'))
