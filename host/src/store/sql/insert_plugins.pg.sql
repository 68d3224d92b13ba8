-- New components. The same digest is the same bytes: a second insert changes nothing.
insert into workflow_plugins (
  digest, kind, types, descriptor, created_at, component
)
select
  r.digest, r.kind, coalesce(r.types, 'null'), coalesce(r.descriptor, 'null'), r.created_at,
  decode(r.component, 'base64')
from json_to_recordset($1::json) as r (
  digest text, kind text, types jsonb, descriptor jsonb, created_at timestamptz, component text
)
on conflict (digest) do nothing
