-- Instances are removed with everything of them.
delete from workflow_external_tasks
where (tenant, workflow_instance_id) in (select r.value ->> 'tenant', r.value ->> 'instance_id' from json_each(?1) as r);
-- next
delete from workflow_timer_reminders
where (tenant, workflow_instance_id) in (select r.value ->> 'tenant', r.value ->> 'instance_id' from json_each(?1) as r);
-- next
delete from workflow_timers
where (tenant, workflow_instance_id) in (select r.value ->> 'tenant', r.value ->> 'instance_id' from json_each(?1) as r);
-- next
delete from execution_wait_states
where (tenant, execution_id) in (select r.value ->> 'tenant', r.value ->> 'instance_id' from json_each(?1) as r);
-- next
delete from workflow_kept_events
where (tenant, execution_id) in (select r.value ->> 'tenant', r.value ->> 'instance_id' from json_each(?1) as r);
-- next
delete from workflow_subscriptions
where (tenant, instance_id) in (select r.value ->> 'tenant', r.value ->> 'instance_id' from json_each(?1) as r);
-- next
delete from workflow_outbox
where (tenant, instance_id) in (select r.value ->> 'tenant', r.value ->> 'instance_id' from json_each(?1) as r);
-- next
delete from workflow_outbox_dead
where (tenant, instance_id) in (select r.value ->> 'tenant', r.value ->> 'instance_id' from json_each(?1) as r);
-- next
delete from workflow_events
where (tenant, instance_id) in (select r.value ->> 'tenant', r.value ->> 'instance_id' from json_each(?1) as r);
-- next
delete from workflow_incidents
where (tenant, instance_id) in (select r.value ->> 'tenant', r.value ->> 'instance_id' from json_each(?1) as r);
-- next
delete from workflow_steps
where (tenant, instance_id) in (select r.value ->> 'tenant', r.value ->> 'instance_id' from json_each(?1) as r);
-- next
delete from workflow_start_keys
where (tenant, instance_id) in (select r.value ->> 'tenant', r.value ->> 'instance_id' from json_each(?1) as r);
-- next
delete from workflow_journal
where (tenant, instance_id) in (select r.value ->> 'tenant', r.value ->> 'instance_id' from json_each(?1) as r);
-- next
delete from workflow_blobs
where (tenant, instance_id) in (select r.value ->> 'tenant', r.value ->> 'instance_id' from json_each(?1) as r);
-- next
delete from workflow_instances
where (tenant, id) in (select r.value ->> 'tenant', r.value ->> 'instance_id' from json_each(?1) as r);
