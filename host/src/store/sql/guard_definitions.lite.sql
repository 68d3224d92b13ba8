-- The newest versions of workflows (0: there is none). There may be no row to lock, so the key itself is
-- locked.
select json_object('id', r.value ->> 'key', 'tenant', r.value ->> 'tenant', 'found', coalesce((
  select max(d.version) from workflow_definitions as d
  where d.tenant = r.value ->> 'tenant' and d.key = r.value ->> 'key'
), 0))
from json_each(?1) as r
