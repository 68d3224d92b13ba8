-- All components, without their bytes, oldest first. The argument is empty.
select json_object(
  'digest', t.digest, 'kind', t.kind, 'types', json(t.types), 'descriptor', json(t.descriptor),
  'created_at', t.created_at
)
from workflow_plugins as t
where ?1 is not null
order by t.created_at, t.digest
