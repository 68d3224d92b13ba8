-- The journal of an instance, oldest first.
select json_object(
  'id', t.id, 'tenant', t.tenant, 'instance_id', t.instance_id, 'subject_id', t.subject_id, 'seq', t.seq,
  'kind', t.kind, 'step_id', t.step_id, 'at', t.at, 'plugin_digest', t.plugin_digest, 'note', t.note,
  'call', t.call, 'answer', t.answer, 'fuel', t.fuel, 'memory_bytes', t.memory_bytes
)
from workflow_journal as t
where t.instance_id = ?1 ->> 'instance_id' and t.tenant = ?1 ->> 'tenant'
  and (?1 ->> 'after' is null or t.id > ?1 ->> 'after')
order by t.id
limit ?1 ->> 'rows_max'
