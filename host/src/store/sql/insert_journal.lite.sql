-- Pages of the journal. (subject, seq) of the first line is unique; what a decision relies on is guarded besides.
with r as materialized (select jsonb(value) as value from json_each(?1))
insert into workflow_journal (
  id, tenant, instance_id, subject_id, seq, kind, step_id, at, plugin_digest, note, call, answer, fuel,
  memory_bytes, more
)
select
  r.value ->> 'id', r.value ->> 'tenant', r.value ->> 'instance_id', r.value ->> 'subject_id',
  r.value ->> 'seq', r.value ->> 'kind', r.value ->> 'step_id', r.value ->> 'at',
  r.value ->> 'plugin_digest', r.value ->> 'note', r.value ->> 'call', r.value ->> 'answer',
  r.value ->> 'fuel', r.value ->> 'memory_bytes', r.value ->> 'more'
from r
