-- Instances ended: the same for all of their steps; open steps are cancelled, open incidents resolved.
update workflow_external_tasks as t set
  status = 'CANCELLED', completed_at = r.value ->> 'at', updated_at = r.value ->> 'at', due_at = null, lock_token = null,
  lock_expires_at = null, version = t.version + 1
from json_each(?1) as r
where t.workflow_instance_id = r.value ->> 'instance_id' and t.tenant = r.value ->> 'tenant'
  and t.status in ('PENDING', 'LOCKED');
-- next
delete from workflow_timers
where id in (
  select t.id from json_each(?1) as r
  join workflow_timers as t on t.workflow_instance_id = r.value ->> 'instance_id' and t.tenant = r.value ->> 'tenant' and not t.triggered
);
-- next
delete from workflow_subscriptions
where id in (
  select t.id from json_each(?1) as r
  join workflow_subscriptions as t on t.instance_id = r.value ->> 'instance_id' and t.tenant = r.value ->> 'tenant'
);
-- next
update workflow_steps as t set status = 'cancelled', ended_at = r.value ->> 'at'
from json_each(?1) as r
where t.instance_id = r.value ->> 'instance_id' and t.tenant = r.value ->> 'tenant'
  and t.status in ('pending', 'running', 'waiting', 'incident');
-- next
update workflow_incidents as t set resolved_at = r.value ->> 'at'
from json_each(?1) as r
where t.instance_id = r.value ->> 'instance_id' and t.tenant = r.value ->> 'tenant' and t.resolved_at is null;
-- next
delete from workflow_events
where id in (
  select t.id from json_each(?1) as r
  join workflow_events as t on t.instance_id = r.value ->> 'instance_id' and t.tenant = r.value ->> 'tenant'
);
-- next
update execution_wait_states as t set status = 'cancelled', updated_at = r.value ->> 'at', version = t.version + 1
from json_each(?1) as r
where t.execution_id = r.value ->> 'instance_id' and t.tenant = r.value ->> 'tenant' and t.status = 'waiting';
-- next
delete from workflow_kept_events
where id in (
  select t.id from json_each(?1) as r
  join workflow_kept_events as t on t.execution_id = r.value ->> 'instance_id' and t.tenant = r.value ->> 'tenant'
);
