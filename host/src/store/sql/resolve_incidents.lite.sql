-- Incidents are over.
update workflow_incidents as t set resolved_at = r.value ->> 'at'
from json_each(?1) as r
where t.id = r.value ->> 'id' and t.tenant = r.value ->> 'tenant' and t.resolved_at is null
