-- A component's bytes, base64 (PostgreSQL breaks its lines).
select to_json(replace(encode(t.component, 'base64'), e'\n', ''))::text
from workflow_plugins as t
where t.digest = $1::json ->> 'digest'
