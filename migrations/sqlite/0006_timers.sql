-- What an instance waits for besides tasks, and what leaves it.

create table workflow_timers (
  id text primary key not null,
  tenant text not null,
  workflow_instance_id text not null references workflow_instances (id) on delete cascade,
  step_execution_id text not null,
  step_id text not null,
  key text not null,
  timer_type text not null,
  trigger_at text not null,
  triggered integer not null default 0,
  triggered_at text,
  reminder_config text,
  -- trigger_at, or the end of the lease of whoever fires it; null once it has fired.
  due_at text,
  created_at text not null
) strict;

-- A key stands for one timer at a time; one that has fired is a record.
create unique index workflow_timers_key on workflow_timers (step_execution_id, key) where not triggered;
create index workflow_timers_due on workflow_timers (due_at) where due_at is not null;
create index workflow_timers_instance on workflow_timers (workflow_instance_id);

create table workflow_timer_reminders (
  id text primary key not null,
  tenant text not null,
  timer_id text not null references workflow_timers (id) on delete cascade,
  channel text not null,
  recipients text not null,
  message text not null,
  sent_at text not null,
  status text not null,
  error_message text,
  created_at text not null
) strict;

create index idx_timer_reminders_timer_id on workflow_timer_reminders (timer_id);

create table workflow_subscriptions (
  id text primary key not null,
  tenant text not null,
  instance_id text not null,
  step_execution_id text not null,
  key text not null,
  name text not null,
  correlation text,
  expires_at text,
  created_at text not null,
  constraint workflow_subscriptions_key unique (step_execution_id, key)
) strict;

-- Who waits for a message.
create index workflow_subscriptions_match on workflow_subscriptions (tenant, name, correlation, id);
create index workflow_subscriptions_instance on workflow_subscriptions (instance_id);

create table execution_wait_states (
  id text primary key not null,
  tenant text not null,
  execution_id text not null references workflow_instances (id) on delete cascade,
  node_id text not null,
  attempt integer not null default 1,
  correlation_id text not null,
  aggregation_strategy text not null,
  required_events text,
  enabled_events text,
  api_call_enabled integer not null default 0,
  kafka_event_enabled integer not null default 0,
  api_response_data text,
  kafka_event_data text,
  received_events text,
  status text not null default 'waiting',
  resumed_at text,
  resumed_by text,
  version integer not null default 1,
  created_at text not null,
  updated_at text not null,
  expires_at text not null,
  constraint execution_wait_states_node unique (tenant, execution_id, node_id, attempt)
) strict;

-- A callback or a message finds its wait by correlation.
create index idx_execution_wait_states_correlation_id on execution_wait_states (tenant, correlation_id);
create index idx_execution_wait_states_exec_corr on execution_wait_states (execution_id, correlation_id);
create index idx_execution_wait_states_expires_at on execution_wait_states (expires_at) where status = 'waiting';

create table workflow_outbox (
  id text primary key not null,
  tenant text not null,
  instance_id text not null,
  step_execution_id text not null,
  ordering_key text not null,
  kind text not null,
  -- Canonical JSON text.
  payload text not null,
  attempts integer not null,
  due_at text not null,
  last_error text,
  created_at text not null
) strict;

-- The head of a key is its least id.
create index workflow_outbox_head on workflow_outbox (tenant, ordering_key, id);
create index workflow_outbox_due on workflow_outbox (due_at);
create index workflow_outbox_list on workflow_outbox (tenant, id);
create index workflow_outbox_instance on workflow_outbox (instance_id);
