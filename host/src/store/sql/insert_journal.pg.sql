-- Pages of the journal. (subject, seq) of the first line is unique; what a decision relies on is guarded besides.
insert into workflow_journal (
  id, tenant, instance_id, subject_id, seq, kind, step_id, at, plugin_digest, note, call, answer, fuel,
  memory_bytes, more
)
select
  r.id, r.tenant, r.instance_id, r.subject_id, r.seq, r.kind, r.step_id, r.at, r.plugin_digest, r.note,
  r.call, r.answer, r.fuel, r.memory_bytes, r.more
from unnest($1::workflow_insert_journal_row[]) as r
