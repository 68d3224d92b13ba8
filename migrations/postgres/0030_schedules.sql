-- Schedules: a row for each cron trigger of a workflow's newest version, with the time at which it is due next.

create table workflow_schedules (
  id uuid primary key not null,
  tenant text not null,
  workflow_key text not null,
  workflow_version integer not null,
  trigger_id text not null,
  cron text not null,
  time_zone text not null,
  misfire text not null,
  overlap text not null,
  context jsonb not null,
  paused boolean not null default false,
  -- The due time that comes next; none if there is none any more.
  next_at timestamptz(3),
  -- Due times up to this one were reached, and wait for the instance before them.
  queued_until timestamptz(3),
  -- Missed due times that were made up for in a row.
  made_up integer not null default 0,
  last_at timestamptz(3),
  last_instance_id uuid,
  last_error text,
  -- next_at, or the end of the lease of whoever looks at it; none if nobody must.
  due_at timestamptz(3),
  version bigint not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  constraint workflow_schedules_trigger unique (tenant, workflow_key, trigger_id)
);

create index workflow_schedules_due on workflow_schedules (due_at) where due_at is not null;
-- Lists, newest first.
create index workflow_schedules_list on workflow_schedules (tenant, id);
