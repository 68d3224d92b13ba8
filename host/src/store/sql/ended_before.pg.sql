-- Instances that ended before a time, oldest first; on demand only those that still have a journal.
select json_build_object('tenant', t.tenant, 'id', t.id)::text
from workflow_instances as t
where t.ended_at < ($1::json ->> 'before')::timestamptz and (not ($1::json ->> 'journal_only')::boolean or t.has_journal)
order by t.ended_at, t.id
limit ($1::json ->> 'rows_max')::bigint
