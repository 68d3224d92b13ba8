-- Events from outside. A wait state's id is that of its step execution.

-- What else came, by name.
alter table execution_wait_states add column event_data text;
-- Who hears what: names, sources, topics, fields, filters.
alter table execution_wait_states add column listeners text not null default '[]';
alter table execution_wait_states add column warning text;

-- Lists, newest first; what failed is looked at most.
create index execution_wait_states_list on execution_wait_states (tenant, id);
create index execution_wait_states_dead on execution_wait_states (tenant, id) where status in ('timeout', 'failed');
-- Those that have ended are removed by age.
create index execution_wait_states_ended on execution_wait_states (updated_at) where status <> 'waiting';

-- Events that came before the wait that they are for.
create table workflow_kept_events (
  id text primary key not null,
  tenant text not null,
  execution_id text not null references workflow_instances (id) on delete cascade,
  correlation_id text not null,
  source text not null,
  topic text not null,
  -- Canonical JSON text.
  event text not null,
  bytes integer not null,
  created_at text not null,
  expires_at text not null
) strict;

create index workflow_kept_events_wait on workflow_kept_events (execution_id, correlation_id);
create index workflow_kept_events_expiry on workflow_kept_events (expires_at);

-- Events that were refused, for operators; bounded for each tenant.
create table workflow_rejected_events (
  id text primary key not null,
  tenant text not null,
  source text not null,
  topic text not null,
  reason text not null,
  detail text not null,
  execution_id text,
  correlation_id text,
  created_at text not null
) strict;

create index workflow_rejected_events_list on workflow_rejected_events (tenant, id);

-- Topics that workflows name, and where they look for ids in their events.
create table workflow_topics (
  tenant text not null,
  topic text not null,
  correlation_field text not null,
  execution_field text not null,
  primary key (topic, tenant, correlation_field, execution_field)
) strict;

-- What starts workflows, of the newest version of each.
create table workflow_event_triggers (
  tenant text not null,
  workflow_key text not null,
  trigger_id text not null,
  topic text not null,
  filter text not null,
  business_key_field text,
  created_at text not null,
  primary key (tenant, workflow_key, trigger_id)
) strict;

create index workflow_event_triggers_topic on workflow_event_triggers (topic, tenant);
