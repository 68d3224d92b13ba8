-- What hosts have heard of workers: counters are added, times only go forward, and a rate is counted over a minute
-- or more.
insert into workflow_external_workers as w (
  id, tenant, worker_id, worker_type, task_types, last_poll_at, last_heartbeat_at, last_work_at, last_seen_at,
  busy_until, status, polls, tasks_completed, tasks_failed, window_at, created_at, updated_at
)
select
  r.id, r.tenant, r.worker_id, r.worker_type, nullif(r.task_types, 'null'::jsonb), r.last_poll_at,
  r.last_heartbeat_at, r.last_work_at, r.last_seen_at, r.busy_until, r.status, r.polls, r.tasks_completed,
  r.tasks_failed, r.at, r.at, r.at
from json_to_recordset($1::json) as r (
  id uuid, tenant text, worker_id text, worker_type text, task_types jsonb, last_poll_at timestamptz,
  last_heartbeat_at timestamptz, last_work_at timestamptz, last_seen_at timestamptz, busy_until timestamptz,
  status text, polls bigint, tasks_completed bigint, tasks_failed bigint, at timestamptz
)
on conflict (tenant, worker_id) do update set
  worker_type = coalesce(excluded.worker_type, w.worker_type),
  task_types = coalesce(excluded.task_types, w.task_types),
  last_poll_at = greatest(w.last_poll_at, excluded.last_poll_at),
  last_heartbeat_at = greatest(w.last_heartbeat_at, excluded.last_heartbeat_at),
  busy_until = case when excluded.last_work_at >= coalesce(w.last_work_at, excluded.last_work_at)
    then excluded.busy_until else w.busy_until end,
  last_work_at = greatest(w.last_work_at, excluded.last_work_at),
  status = case when excluded.last_seen_at >= w.last_seen_at then excluded.status else w.status end,
  last_seen_at = greatest(w.last_seen_at, excluded.last_seen_at),
  polls = w.polls + excluded.polls,
  tasks_completed = w.tasks_completed + excluded.tasks_completed,
  tasks_failed = w.tasks_failed + excluded.tasks_failed,
  polls_per_minute = case when excluded.updated_at >= w.window_at + interval '1 minute'
    then (w.polls + excluded.polls - w.window_polls) * 60 / extract(epoch from excluded.updated_at - w.window_at)
    else w.polls_per_minute end,
  completed_per_minute = case when excluded.updated_at >= w.window_at + interval '1 minute'
    then (w.tasks_completed + excluded.tasks_completed - w.window_completed) * 60
      / extract(epoch from excluded.updated_at - w.window_at)
    else w.completed_per_minute end,
  window_polls = case when excluded.updated_at >= w.window_at + interval '1 minute'
    then w.polls + excluded.polls else w.window_polls end,
  window_completed = case when excluded.updated_at >= w.window_at + interval '1 minute'
    then w.tasks_completed + excluded.tasks_completed else w.window_completed end,
  window_at = case when excluded.updated_at >= w.window_at + interval '1 minute'
    then excluded.updated_at else w.window_at end,
  updated_at = greatest(w.updated_at, excluded.updated_at)
