-- Notes to people: who sends them, and what became of each try.

create table workflow_senders (
  tenant text not null,
  name text not null,
  -- EMAIL, SLACK or WEBHOOK.
  channel text not null,
  -- The one that is taken where a step names none.
  is_default integer not null,
  -- Server, address and so on; secrets are named in it, never written.
  settings text not null,
  created_at text not null,
  updated_at text not null,
  constraint workflow_senders_key primary key (tenant, name)
) strict;

-- Nothing has written to it so far: it is made anew, since not every note comes from a timer.
drop table workflow_timer_reminders;

create table workflow_timer_reminders (
  id text primary key not null,
  tenant text not null,
  -- The timer that caused it, if one did.
  timer_id text references workflow_timers (id) on delete cascade,
  workflow_instance_id text not null,
  step_execution_id text not null,
  -- Empty for the deadline of a whole instance.
  step_id text not null,
  -- The key that the plugin gave to the note: tries of one note have the same.
  key text not null,
  -- From 1.
  attempt integer not null,
  sender text,
  channel text not null,
  recipients text not null,
  message text not null,
  sent_at text not null,
  status text not null,
  error_message text,
  created_at text not null
) strict;

create index idx_timer_reminders_timer_id on workflow_timer_reminders (timer_id);
create index workflow_timer_reminders_instance on workflow_timer_reminders (workflow_instance_id);
create index workflow_timer_reminders_list on workflow_timer_reminders (tenant, id);
