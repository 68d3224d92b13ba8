-- The newest versions of workflows (0: there is none). There may be no row to lock, so the key itself is
-- locked.
select count(pg_advisory_xact_lock(hashtextextended('workflow_definitions/' || k.tenant || '/' || k.key, 0)))::text
from (
  select distinct r.tenant, r.key from json_to_recordset($1::json) as r (tenant text, key text) order by 1, 2
) as k
-- next
select json_build_object('id', r.key, 'tenant', r.tenant, 'found', coalesce((
  select max(d.version) from workflow_definitions as d where d.tenant = r.tenant and d.key = r.key
), 0))::text
from json_to_recordset($1::json) as r (tenant text, key text)
