-- Schedules: a row for each cron trigger of a workflow's newest version, with the time at which it is due next.

create table workflow_schedules (
  id text primary key not null,
  tenant text not null,
  workflow_key text not null,
  workflow_version integer not null,
  trigger_id text not null,
  cron text not null,
  time_zone text not null,
  misfire text not null,
  overlap text not null,
  context text not null,
  paused integer not null default 0,
  -- The due time that comes next; none if there is none any more.
  next_at text,
  -- Due times up to this one were reached, and wait for the instance before them.
  queued_until text,
  -- Missed due times that were made up for in a row.
  made_up integer not null default 0,
  last_at text,
  last_instance_id text,
  last_error text,
  -- next_at, or the end of the lease of whoever looks at it; none if nobody must.
  due_at text,
  version integer not null,
  created_at text not null,
  updated_at text not null,
  constraint workflow_schedules_trigger unique (tenant, workflow_key, trigger_id)
) strict;

create index workflow_schedules_due on workflow_schedules (due_at) where due_at is not null;
-- Lists, newest first.
create index workflow_schedules_list on workflow_schedules (tenant, id);
