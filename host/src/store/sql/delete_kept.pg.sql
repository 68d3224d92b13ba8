-- Events are no longer kept.
delete from workflow_kept_events as t
using json_to_recordset($1::json) as r (tenant text, id uuid)
where t.id = r.id and t.tenant = r.tenant
