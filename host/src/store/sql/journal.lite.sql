-- Pages of an instance's journal, oldest first, from the one on that may have the line after the given one.
select json_object(
  'id', t.id, 'tenant', t.tenant, 'instance_id', t.instance_id, 'subject_id', t.subject_id, 'seq', t.seq,
  'kind', t.kind, 'step_id', t.step_id, 'at', t.at, 'plugin_digest', t.plugin_digest, 'note', t.note,
  'call', t.call, 'answer', t.answer, 'fuel', t.fuel, 'memory_bytes', t.memory_bytes, 'more', t.more
)
from workflow_journal as t
where t.instance_id = ?1 ->> 'instance_id' and t.tenant = ?1 ->> 'tenant'
  and (?1 ->> 'after' is null or t.id >= coalesce((
    select p.id from workflow_journal as p
    where p.instance_id = ?1 ->> 'instance_id' and p.id <= ?1 ->> 'after'
    order by p.id desc
    limit 1
  ), ?1 ->> 'after'))
order by t.id
-- The first page may have no line after the given one.
limit (?1 ->> 'rows_max') + 1
