-- The same secrets under another key, unless somebody has changed them meanwhile.
update workflow_secrets as t set sealed = r.value ->> 'sealed', key_id = r.value ->> 'key_id'
from json_each(?1) as r
where t.tenant = r.value ->> 'tenant' and t.name = r.value ->> 'name' and t.version = r.value ->> 'version'
  and t.key_id <> r.value ->> 'key_id'
