-- Workers, newest first. Planned anew for each call, so that filters that are absent fall away.
select json_object(
  'id', t.id, 'tenant', t.tenant, 'worker_id', t.worker_id, 'worker_type', t.worker_type,
  'task_types', json(t.task_types), 'last_poll_at', t.last_poll_at, 'last_heartbeat_at', t.last_heartbeat_at,
  'last_work_at', t.last_work_at, 'last_seen_at', t.last_seen_at, 'busy_until', t.busy_until,
  'status', t.status, 'polls', t.polls, 'tasks_completed', t.tasks_completed, 'tasks_failed', t.tasks_failed,
  'polls_per_minute', t.polls_per_minute, 'completed_per_minute', t.completed_per_minute,
  'window_at', t.window_at, 'window_polls', t.window_polls, 'window_completed', t.window_completed,
  'created_at', t.created_at, 'updated_at', t.updated_at
)
from workflow_external_workers as t
where t.tenant = ?1 ->> 'tenant'
  and (?1 ->> 'seen_since' is null or t.last_seen_at >= ?1 ->> 'seen_since')
  and (?1 ->> 'after' is null or t.id < ?1 ->> 'after')
order by t.id desc
limit ?1 ->> 'rows_max'
