-- Fewer index entries for each row that is written: lines of the journal are read by instance, so the way to them is
-- their key.

create table workflow_journal_new (
  id text not null,
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
  primary key (instance_id, id),
  -- After a commit whose outcome is unknown: a decision is never recorded twice.
  constraint workflow_journal_seq unique (subject_id, seq)
) strict;

insert into workflow_journal_new
select id, tenant, instance_id, subject_id, seq, kind, step_id, at, plugin_digest, note, call, answer, fuel, memory_bytes
from workflow_journal;

drop table workflow_journal;
alter table workflow_journal_new rename to workflow_journal;
