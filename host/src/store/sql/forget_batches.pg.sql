-- Batches that were over before a time are removed.
delete from workflow_batches as t
using json_to_recordset($1::json) as r (finished_before timestamptz)
where t.finished_at < r.finished_before
