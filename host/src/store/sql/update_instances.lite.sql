-- Instances moved on, each from the version before.
with r as materialized (select jsonb(value) as value from json_each(?1))
update workflow_instances as t set
  status = r.value ->> 'status', version = r.value ->> 'version', open_steps = r.value ->> 'open_steps',
  open_incidents = r.value ->> 'open_incidents', error = nullif(r.value -> 'error', 'null'),
  context = coalesce(nullif(r.value -> 'context', 'null'), t.context),
  updated_at = r.value ->> 'updated_at', ended_at = r.value ->> 'ended_at',
  turns = nullif(r.value -> 'turns', 'null')
from r
where t.id = r.value ->> 'id' and t.tenant = r.value ->> 'tenant'
  and t.version = (r.value ->> 'version') - 1
returning json_quote(id)
