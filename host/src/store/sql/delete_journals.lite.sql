-- The journals of ended instances are removed; has_journal keeps retention from asking for them again.
delete from workflow_journal
where (tenant, instance_id) in (select r.value ->> 'tenant', r.value ->> 'instance_id' from json_each(?1) as r);
-- next
delete from workflow_blobs
where (tenant, instance_id) in (select r.value ->> 'tenant', r.value ->> 'instance_id' from json_each(?1) as r);
-- next
update workflow_instances set has_journal = 0
where (tenant, id) in (select r.value ->> 'tenant', r.value ->> 'instance_id' from json_each(?1) as r);
