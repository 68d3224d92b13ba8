-- Batches: the same change to many tasks, made in the background.

create table workflow_batches (
  id text primary key not null,
  tenant text not null,
  kind text not null,
  retries integer not null,
  -- A JSON array of ids, in order.
  task_ids text not null,
  done integer not null default 0,
  failed integer not null default 0,
  created_at text not null,
  finished_at text,
  -- A lease: whose host lives moves it on.
  due_at text
) strict;

-- Lists, newest first.
create index workflow_batches_list on workflow_batches (tenant, id);
-- Those that nobody goes on with.
create index workflow_batches_due on workflow_batches (due_at) where due_at is not null;
