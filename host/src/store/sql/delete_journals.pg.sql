-- The journals of ended instances are removed; has_journal keeps retention from asking for them again.
with r as materialized (
  select * from json_to_recordset($1::json) as r (tenant text, instance_id uuid)
),
d1 as (delete from workflow_journal as t using r where t.instance_id = r.instance_id and t.tenant = r.tenant),
d2 as (delete from workflow_blobs as t using r where t.instance_id = r.instance_id and t.tenant = r.tenant)
update workflow_instances as t set has_journal = false from r where t.id = r.instance_id and t.tenant = r.tenant
