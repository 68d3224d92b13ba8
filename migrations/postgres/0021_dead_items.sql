-- What was given up: outgoing items that no try could send. They stay until an operator decides, or with their instance.

create table workflow_outbox_dead (
  id uuid primary key not null,
  tenant text not null,
  instance_id uuid not null,
  step_execution_id uuid not null,
  ordering_key text not null,
  kind text not null,
  payload text not null,
  attempts integer not null,
  last_error text,
  created_at timestamptz(3) not null,
  died_at timestamptz(3) not null
);

create index workflow_outbox_dead_list on workflow_outbox_dead (tenant, id);
create index workflow_outbox_dead_instance on workflow_outbox_dead (instance_id);
