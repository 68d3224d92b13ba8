-- What was given up: outgoing items that no try could send. They stay until an operator decides, or with their instance.

create table workflow_outbox_dead (
  id text primary key not null,
  tenant text not null,
  instance_id text not null,
  step_execution_id text not null,
  ordering_key text not null,
  kind text not null,
  payload text not null,
  attempts integer not null,
  last_error text,
  created_at text not null,
  died_at text not null
) strict;

create index workflow_outbox_dead_list on workflow_outbox_dead (tenant, id);
create index workflow_outbox_dead_instance on workflow_outbox_dead (instance_id);
