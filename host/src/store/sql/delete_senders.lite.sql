-- Senders are forgotten.
delete from workflow_senders
where (tenant, name) in (select r.value ->> 'tenant', r.value ->> 'name' from json_each(?1) as r)
