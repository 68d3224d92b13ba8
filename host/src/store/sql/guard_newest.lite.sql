-- The newest versions of workflows, as starts rely on them. Nothing is locked: a version that comes a moment later
-- was not there for them.
select json_object('id', r.value ->> 'key', 'tenant', r.value ->> 'tenant', 'found', coalesce((
  select max(d.version) from workflow_definitions as d
  where d.tenant = r.value ->> 'tenant' and d.key = r.value ->> 'key'
), 0))
from json_each(?1) as r
