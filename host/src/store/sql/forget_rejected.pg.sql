-- Refused events that are old, or beyond the newest of their tenant, are forgotten.
delete from workflow_rejected_events as t
using (
  select e.id, e.created_at, row_number() over (partition by e.tenant order by e.id desc) as number
  from workflow_rejected_events as e
) as n,
json_to_recordset($1::json) as r (created_before timestamptz, per_tenant_max bigint)
where t.id = n.id and (n.created_at < r.created_before or n.number > r.per_tenant_max)
