-- The same secrets under another key, unless somebody has changed them meanwhile.
update workflow_secrets as t set sealed = r.sealed, key_id = r.key_id
from json_to_recordset($1::json) as r (tenant text, name text, sealed text, key_id text, version bigint)
where t.tenant = r.tenant and t.name = r.name and t.version = r.version
  and t.key_id <> r.key_id
