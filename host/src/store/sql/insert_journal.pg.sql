-- Lines of the journal. (subject, seq) is unique: a decision is never recorded twice.
insert into workflow_journal (
  id, tenant, instance_id, subject_id, seq, kind, step_id, at, plugin_digest, note, call, answer, fuel,
  memory_bytes
)
select
  r.id, r.tenant, r.instance_id, r.subject_id, r.seq, r.kind, r.step_id, r.at, r.plugin_digest, r.note,
  r.call, r.answer, r.fuel, r.memory_bytes
from json_to_recordset($1::json) as r (
  id uuid, tenant text, instance_id uuid, subject_id uuid, seq bigint, kind text, step_id text,
  at timestamptz, plugin_digest text, note text, call text, answer text, fuel bigint, memory_bytes bigint
)
