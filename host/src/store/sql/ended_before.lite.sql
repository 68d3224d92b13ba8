-- Instances that ended before a time, oldest first; on demand only those that still have a journal.
select json_object('tenant', t.tenant, 'id', t.id)
from workflow_instances as t
where t.ended_at < ?1 ->> 'before' and (not ?1 ->> 'journal_only' or t.has_journal)
order by t.ended_at, t.id
limit ?1 ->> 'rows_max'
