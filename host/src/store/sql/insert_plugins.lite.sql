-- New components. The same digest is the same bytes: a second insert changes nothing.
insert into workflow_plugins (
  digest, kind, types, descriptor, created_at, component
)
select
  r.value ->> 'digest', r.value ->> 'kind', r.value -> 'types', r.value -> 'descriptor',
  r.value ->> 'created_at', r.value ->> 'component'
from json_each(?1) as r
where true
on conflict (digest) do nothing
