-- Contexts changed. Apart from update_instances, since most transitions leave the context alone.
update workflow_instances as t set
  context = r.value -> 'context'
from json_each(?1) as r
where t.id = r.value ->> 'id' and t.tenant = r.value ->> 'tenant'
