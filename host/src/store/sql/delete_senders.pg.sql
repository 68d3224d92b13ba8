-- Senders are forgotten.
delete from workflow_senders as t
using json_to_recordset($1::json) as r (tenant text, name text)
where t.tenant = r.tenant and t.name = r.name
