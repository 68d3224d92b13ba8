-- Instances, their steps, and what their steps have not consumed yet.
-- No foreign key leads to workflow_definitions: a start must not wait for a deployment.

create table workflow_instances (
  id text primary key not null,
  tenant text not null,
  workflow_key text not null,
  workflow_version integer not null,
  business_key text,
  status text not null,
  version integer not null,
  open_steps integer not null,
  open_incidents integer not null,
  context text not null,
  "trigger" text not null,
  error text,
  traceparent text,
  created_at text not null,
  updated_at text not null,
  ended_at text,
  -- False once retention has removed the journal.
  has_journal integer not null default 1,
  constraint workflow_instances_status check (
    status in ('running', 'waiting', 'completed', 'failed', 'cancelled', 'paused', 'incident')
  )
) strict;

-- Lists, newest first: ids are in order of time.
create index workflow_instances_list on workflow_instances (tenant, id);
create index workflow_instances_by_workflow on workflow_instances (tenant, workflow_key, id);
create index workflow_instances_by_business_key on workflow_instances (tenant, business_key, id)
  where business_key is not null;
-- What operators look for; completed instances are most of the table, and are found by the list.
create index workflow_instances_by_status on workflow_instances (tenant, status, id)
  where status <> 'completed';
-- Retention walks through ended instances, oldest first; the second one forgets those whose journal is gone.
create index workflow_instances_ended on workflow_instances (ended_at, id) where ended_at is not null;
create index workflow_instances_journal on workflow_instances (ended_at, id)
  where ended_at is not null and has_journal;

create table workflow_steps (
  id text primary key not null,
  tenant text not null,
  instance_id text not null,
  step_id text not null,
  attempt integer not null,
  step_type text not null,
  status text not null,
  plugin_digest text,
  -- Canonical JSON text, which must survive byte for byte.
  config text,
  state text,
  state_version integer not null,
  seq integer not null,
  effect_keys text not null,
  arrived integer not null,
  arrived_live integer not null,
  output text,
  error text,
  started_at text,
  ended_at text,
  -- Also the way from an instance to its steps.
  constraint workflow_steps_attempt unique (tenant, instance_id, step_id, attempt),
  constraint workflow_steps_status check (
    status in ('pending', 'running', 'waiting', 'completed', 'failed', 'cancelled', 'skipped', 'incident')
  )
) strict;

-- A start that is repeated with the same key gives the same instance.
create table workflow_start_keys (
  tenant text not null,
  workflow_key text not null,
  key text not null,
  instance_id text not null,
  created_at text not null,
  primary key (tenant, workflow_key, key)
) strict;

-- Removing an instance removes its key.
create index workflow_start_keys_instance on workflow_start_keys (instance_id);

-- The inbox: events that their step has not consumed.
create table workflow_events (
  id text primary key not null,
  tenant text not null,
  instance_id text not null,
  step_execution_id text not null,
  -- Canonical JSON text.
  event text not null,
  created_at text not null
) strict;

-- A step drains its events in order of arrival.
create index workflow_events_step on workflow_events (step_execution_id, id);
create index workflow_events_instance on workflow_events (instance_id);

create table workflow_incidents (
  id text primary key not null,
  tenant text not null,
  instance_id text not null,
  step_execution_id text not null,
  step_id text not null,
  code text not null,
  message text not null,
  plugin_digest text,
  event_id text,
  created_at text not null,
  resolved_at text
) strict;

-- Lists, newest first, of a tenant and of an instance; the open ones are few and looked at most.
create index workflow_incidents_list on workflow_incidents (tenant, id);
create index workflow_incidents_open on workflow_incidents (tenant, id) where resolved_at is null;
create index workflow_incidents_instance on workflow_incidents (instance_id, id);
