-- What an instance waits for besides tasks, and what leaves it.

create table workflow_timers (
  id uuid primary key not null,
  tenant text not null,
  workflow_instance_id uuid not null references workflow_instances (id) on delete cascade,
  step_execution_id uuid not null,
  step_id text not null,
  key text not null,
  timer_type text not null,
  trigger_at timestamptz(3) not null,
  triggered boolean not null default false,
  triggered_at timestamptz(3),
  reminder_config jsonb,
  -- trigger_at, or the end of the lease of whoever fires it; null once it has fired.
  due_at timestamptz(3),
  created_at timestamptz(3) not null
);

-- A key stands for one timer at a time; one that has fired is a record.
create unique index workflow_timers_key on workflow_timers (step_execution_id, key) where not triggered;
create index workflow_timers_due on workflow_timers (due_at) where due_at is not null;
create index workflow_timers_instance on workflow_timers (workflow_instance_id);

create table workflow_timer_reminders (
  id uuid primary key not null,
  tenant text not null,
  timer_id uuid not null references workflow_timers (id) on delete cascade,
  channel text not null,
  recipients jsonb not null,
  message text not null,
  sent_at timestamptz(3) not null,
  status text not null,
  error_message text,
  created_at timestamptz(3) not null
);

create index idx_timer_reminders_timer_id on workflow_timer_reminders (timer_id);

create table workflow_subscriptions (
  id uuid primary key not null,
  tenant text not null,
  instance_id uuid not null,
  step_execution_id uuid not null,
  key text not null,
  name text not null,
  correlation text,
  expires_at timestamptz(3),
  created_at timestamptz(3) not null,
  constraint workflow_subscriptions_key unique (step_execution_id, key)
);

-- Who waits for a message.
create index workflow_subscriptions_match on workflow_subscriptions (tenant, name, correlation, id);
create index workflow_subscriptions_instance on workflow_subscriptions (instance_id);

create table execution_wait_states (
  id text primary key not null,
  tenant text not null,
  execution_id uuid not null references workflow_instances (id) on delete cascade,
  node_id text not null,
  attempt integer not null default 1,
  correlation_id text not null,
  aggregation_strategy text not null,
  required_events jsonb,
  enabled_events jsonb,
  api_call_enabled boolean not null default false,
  kafka_event_enabled boolean not null default false,
  api_response_data jsonb,
  kafka_event_data jsonb,
  received_events jsonb,
  status text not null default 'waiting',
  resumed_at timestamptz(3),
  resumed_by text,
  version integer not null default 1,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  expires_at timestamptz(3) not null,
  constraint execution_wait_states_node unique (tenant, execution_id, node_id, attempt)
);

-- A callback or a message finds its wait by correlation.
create index idx_execution_wait_states_correlation_id on execution_wait_states (tenant, correlation_id);
create index idx_execution_wait_states_exec_corr on execution_wait_states (execution_id, correlation_id);
create index idx_execution_wait_states_expires_at on execution_wait_states (expires_at) where status = 'waiting';

create table workflow_outbox (
  id uuid primary key not null,
  tenant text not null,
  instance_id uuid not null,
  step_execution_id uuid not null,
  ordering_key text not null,
  kind text not null,
  -- Canonical JSON text.
  payload text not null,
  attempts integer not null,
  due_at timestamptz(3) not null,
  last_error text,
  created_at timestamptz(3) not null
);

-- The head of a key is its least id.
create index workflow_outbox_head on workflow_outbox (tenant, ordering_key, id);
create index workflow_outbox_due on workflow_outbox (due_at);
create index workflow_outbox_list on workflow_outbox (tenant, id);
create index workflow_outbox_instance on workflow_outbox (instance_id);
