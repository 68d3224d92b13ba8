-- All components, without their bytes, oldest first. The argument is empty.
select json_build_object(
  'digest', t.digest, 'kind', t.kind, 'types', t.types, 'descriptor', t.descriptor,
  'created_at', t.created_at
)::text
from workflow_plugins as t
where $1::json is not null
order by t.created_at, t.digest
