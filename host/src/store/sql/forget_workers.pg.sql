-- Workers that nobody has heard of for long are forgotten, and the most silent ones of a tenant that has too many.
delete from workflow_external_workers as t
using (
  select w.id, w.last_seen_at, row_number() over (partition by w.tenant order by w.last_seen_at desc, w.id) as number
  from workflow_external_workers as w
) as n,
json_to_recordset($1::json) as r (seen_before timestamptz, per_tenant_max bigint)
where t.id = n.id and (n.last_seen_at < r.seen_before or n.number > r.per_tenant_max)
