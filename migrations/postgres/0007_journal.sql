-- The journal: every decision, with all that is needed to make it again.

create table workflow_journal (
  id uuid primary key not null,
  tenant text not null,
  instance_id uuid not null,
  subject_id uuid not null,
  seq bigint not null,
  kind text not null,
  step_id text,
  at timestamptz(3) not null,
  plugin_digest text,
  note text,
  -- Canonical JSON text, which must survive byte for byte.
  call text,
  answer text,
  fuel bigint,
  memory_bytes bigint,
  -- After a commit whose outcome is unknown: a decision is never recorded twice.
  constraint workflow_journal_seq unique (subject_id, seq)
);

-- The timeline of an instance.
create index workflow_journal_instance on workflow_journal (instance_id, id);

-- Big parts of the journal, once for each instance.
create table workflow_blobs (
  tenant text not null,
  instance_id uuid not null,
  hash text not null,
  body text not null,
  primary key (tenant, instance_id, hash)
);
