-- Tasks that were withdrawn while a worker held them, oldest first: only those have kept the time of their lock.
select json_object('id', t.id, 'task_type', t.task_type, 'workflow_instance_id', t.workflow_instance_id,
  'step_id', t.step_id, 'cancelled_at', t.completed_at)
from workflow_external_tasks as t
where t.tenant = ?1 ->> 'tenant' and t.worker_id = ?1 ->> 'worker_id'
  and t.status = 'CANCELLED' and t.locked_at is not null
  and (t.completed_at, t.id) > (?1 ->> 'since', ?1 ->> 'since_id')
order by t.completed_at, t.id
limit ?1 ->> 'rows_max'
