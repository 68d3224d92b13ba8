-- What hosts have heard of workers: counters are added, times only go forward, and a rate is counted over a minute
-- or more.
insert into workflow_external_workers as w (
  id, tenant, worker_id, worker_type, task_types, last_poll_at, last_heartbeat_at, last_work_at, last_seen_at,
  busy_until, status, polls, tasks_completed, tasks_failed, window_at, created_at, updated_at
)
select
  r.value ->> 'id', r.value ->> 'tenant', r.value ->> 'worker_id', r.value ->> 'worker_type',
  nullif(r.value -> 'task_types', 'null'), r.value ->> 'last_poll_at', r.value ->> 'last_heartbeat_at',
  r.value ->> 'last_work_at', r.value ->> 'last_seen_at', r.value ->> 'busy_until', r.value ->> 'status',
  r.value ->> 'polls', r.value ->> 'tasks_completed', r.value ->> 'tasks_failed', r.value ->> 'at',
  r.value ->> 'at', r.value ->> 'at'
from json_each(?1) as r
where true
on conflict (tenant, worker_id) do update set
  worker_type = coalesce(excluded.worker_type, worker_type),
  task_types = coalesce(excluded.task_types, task_types),
  last_poll_at = max(coalesce(last_poll_at, excluded.last_poll_at), coalesce(excluded.last_poll_at, last_poll_at)),
  last_heartbeat_at = max(coalesce(last_heartbeat_at, excluded.last_heartbeat_at),
    coalesce(excluded.last_heartbeat_at, last_heartbeat_at)),
  busy_until = case when excluded.last_work_at >= coalesce(last_work_at, excluded.last_work_at)
    then excluded.busy_until else busy_until end,
  last_work_at = max(coalesce(last_work_at, excluded.last_work_at), coalesce(excluded.last_work_at, last_work_at)),
  status = case when excluded.last_seen_at >= last_seen_at then excluded.status else status end,
  last_seen_at = max(last_seen_at, excluded.last_seen_at),
  polls = polls + excluded.polls,
  tasks_completed = tasks_completed + excluded.tasks_completed,
  tasks_failed = tasks_failed + excluded.tasks_failed,
  polls_per_minute = case when (julianday(excluded.updated_at) - julianday(window_at)) * 1440 >= 1
    then (polls + excluded.polls - window_polls) / ((julianday(excluded.updated_at) - julianday(window_at)) * 1440)
    else polls_per_minute end,
  completed_per_minute = case when (julianday(excluded.updated_at) - julianday(window_at)) * 1440 >= 1
    then (tasks_completed + excluded.tasks_completed - window_completed)
      / ((julianday(excluded.updated_at) - julianday(window_at)) * 1440)
    else completed_per_minute end,
  window_polls = case when (julianday(excluded.updated_at) - julianday(window_at)) * 1440 >= 1
    then polls + excluded.polls else window_polls end,
  window_completed = case when (julianday(excluded.updated_at) - julianday(window_at)) * 1440 >= 1
    then tasks_completed + excluded.tasks_completed else window_completed end,
  window_at = case when (julianday(excluded.updated_at) - julianday(window_at)) * 1440 >= 1
    then excluded.updated_at else window_at end,
  updated_at = max(updated_at, excluded.updated_at)
