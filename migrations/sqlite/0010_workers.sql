-- Workers as the hosts have heard of them. Nothing was ever written to the table as it was.
drop table workflow_external_workers;

create table workflow_external_workers (
  id text primary key not null,
  tenant text not null,
  worker_id text not null,
  worker_type text,
  -- An array of names and patterns.
  task_types text,
  last_poll_at text,
  last_heartbeat_at text,
  last_work_at text,
  last_seen_at text not null,
  -- The end of the lock that it was given last.
  busy_until text,
  -- As it was when the row was written: time alone makes a silent worker dead.
  status text not null,
  polls integer not null default 0,
  tasks_completed integer not null default 0,
  tasks_failed integer not null default 0,
  -- Rates of the last window, and where the counters stood when this one began.
  polls_per_minute real not null default 0,
  completed_per_minute real not null default 0,
  window_at text not null,
  window_polls integer not null default 0,
  window_completed integer not null default 0,
  created_at text not null,
  updated_at text not null,
  -- Two tenants may each have a worker of the same name.
  constraint workflow_external_workers_worker_id unique (tenant, worker_id),
  constraint workflow_external_workers_status check (status in ('ACTIVE', 'IDLE', 'DEAD'))
) strict;

create index idx_external_workers_status on workflow_external_workers (tenant, status);
-- Who was heard of lately, and who has been silent for long.
create index idx_external_workers_seen on workflow_external_workers (last_seen_at);
create index idx_external_workers_list on workflow_external_workers (tenant, id);

-- Tasks that were withdrawn from a worker that held them, for that worker. They are few.
create index idx_external_tasks_withdrawn on workflow_external_tasks (tenant, worker_id, completed_at, id)
  where status = 'CANCELLED' and locked_at is not null;
