-- External tasks and the workers that take them.

create table workflow_external_tasks (
  id uuid primary key not null,
  tenant text not null,
  workflow_instance_id uuid not null references workflow_instances (id) on delete cascade,
  step_execution_id uuid not null,
  step_id text not null,
  workflow_key text not null,
  business_key text,
  key text not null,

  task_type text not null,
  priority bigint not null default 5,

  input jsonb not null,
  output jsonb,

  worker_id text,
  locked_at timestamptz(3),
  lock_duration_seconds double precision not null default 300,
  lock_expires_at timestamptz(3),
  lock_token uuid,

  last_heartbeat_at timestamptz(3),
  heartbeat_interval_seconds double precision,
  heartbeat_max_missed integer not null default 2,

  timeout_seconds double precision,
  timeout_at timestamptz(3),
  completed_at timestamptz(3),

  status text not null,

  retry_count integer not null default 0,
  max_retries integer not null default 3,
  retry_initial_ms bigint not null,
  retry_factor_percent integer not null,
  retry_max_ms bigint not null,
  retry_jitter_percent integer not null,
  lock_expiries integer not null default 0,
  max_lock_expiries integer not null default 10,
  error_message text,
  error_code text,
  error_details text,
  checkpoint jsonb,

  available_at timestamptz(3) not null,
  -- The earliest deadline, moved into the future as a lease by whoever looks after it.
  due_at timestamptz(3),
  traceparent text,

  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  version bigint not null default 0,

  -- Also the way from a step to its tasks.
  constraint workflow_external_tasks_key unique (step_execution_id, key),
  constraint workflow_external_tasks_status check (
    status in ('PENDING', 'LOCKED', 'COMPLETED', 'FAILED', 'CANCELLED')
  )
) with (fillfactor = 80);

-- A poll reads the first rows of its type in the order in which they are handed out.
create index idx_external_tasks_poll
  on workflow_external_tasks (tenant, task_type, priority, created_at, id) where status = 'PENDING';
-- The one index for every deadline: time-out, lock and heartbeat.
create index idx_external_tasks_timeout on workflow_external_tasks (due_at) where due_at is not null;
-- Tasks that wait for a retry: when the next becomes available, and which did.
create index idx_external_tasks_delayed
  on workflow_external_tasks (available_at) where status = 'PENDING' and available_at > created_at;
-- Counting what workers hold, and finding what a claim has locked whose answer was lost.
create index idx_external_tasks_locked on workflow_external_tasks (task_type, lock_token) where status = 'LOCKED';
-- Closing, listing and removing what belongs to an instance.
create index idx_external_tasks_workflow_instance on workflow_external_tasks (workflow_instance_id, id);
-- Lists, newest first; dead letters are few and looked at most.
create index idx_external_tasks_list on workflow_external_tasks (tenant, id);
create index idx_external_tasks_failed on workflow_external_tasks (tenant, id) where status = 'FAILED';

create table workflow_external_workers (
  id uuid primary key not null,
  tenant text not null,
  worker_id text not null,
  worker_type text,
  -- An array of names.
  task_types jsonb,
  last_poll_at timestamptz(3),
  last_heartbeat_at timestamptz(3),
  status text,
  tasks_completed integer not null default 0,
  tasks_failed integer not null default 0,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  -- Two tenants may each have a worker of the same name.
  constraint workflow_external_workers_worker_id unique (tenant, worker_id)
);

create index idx_external_workers_status on workflow_external_workers (tenant, status);
