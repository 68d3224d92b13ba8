-- Steps ended: their open tasks are cancelled, their timers, subscriptions and events removed. The rows of
-- the steps themselves are written by upsert_steps.
update workflow_external_tasks as t set
  status = 'CANCELLED', completed_at = r.value ->> 'at', updated_at = r.value ->> 'at', due_at = null, lock_token = null,
  lock_expires_at = null, version = t.version + 1
from json_each(?1) as r
where t.step_execution_id = r.value ->> 'step_execution_id' and t.tenant = r.value ->> 'tenant'
  and t.status in ('PENDING', 'LOCKED');
-- next
delete from workflow_timers
where id in (
  select t.id from json_each(?1) as r
  join workflow_timers as t on t.step_execution_id = r.value ->> 'step_execution_id' and t.tenant = r.value ->> 'tenant' and not t.triggered
);
-- next
delete from workflow_subscriptions
where id in (
  select t.id from json_each(?1) as r
  join workflow_subscriptions as t on t.step_execution_id = r.value ->> 'step_execution_id' and t.tenant = r.value ->> 'tenant'
);
-- next
delete from workflow_events
where id in (
  select t.id from json_each(?1) as r
  join workflow_events as t on t.step_execution_id = r.value ->> 'step_execution_id' and t.tenant = r.value ->> 'tenant'
);
-- next
update execution_wait_states as t set status = 'cancelled', updated_at = r.value ->> 'at', version = t.version + 1
from json_each(?1) as r
where t.id = r.value ->> 'step_execution_id' and t.tenant = r.value ->> 'tenant' and t.status = 'waiting';
