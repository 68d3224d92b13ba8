-- Outgoing items that were given up are forgotten, or sent again.
delete from workflow_outbox_dead as t
using json_to_recordset($1::json) as r (tenant text, id uuid)
where t.id = r.id and t.tenant = r.tenant
