-- The journal: every decision, with all that is needed to make it again.

create table workflow_journal (
  id text primary key not null,
  tenant text not null,
  instance_id text not null,
  subject_id text not null,
  seq integer not null,
  kind text not null,
  step_id text,
  at text not null,
  plugin_digest text,
  note text,
  -- Canonical JSON text, which must survive byte for byte.
  call text,
  answer text,
  fuel integer,
  memory_bytes integer,
  -- After a commit whose outcome is unknown: a decision is never recorded twice.
  constraint workflow_journal_seq unique (subject_id, seq)
) strict;

-- The timeline of an instance.
create index workflow_journal_instance on workflow_journal (instance_id, id);

-- Big parts of the journal, once for each instance.
create table workflow_blobs (
  tenant text not null,
  instance_id text not null,
  hash text not null,
  body text not null,
  primary key (tenant, instance_id, hash)
) strict;
