-- Incidents are over.
update workflow_incidents as t set resolved_at = r.at
from json_to_recordset($1::json) as r (tenant text, id uuid, at timestamptz)
where t.id = r.id and t.tenant = r.tenant and t.resolved_at is null
