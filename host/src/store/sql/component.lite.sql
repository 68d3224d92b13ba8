-- A component's bytes, base64 (PostgreSQL breaks its lines).
select json_quote(t.component)
from workflow_plugins as t
where t.digest = ?1 ->> 'digest'
