-- Batches that were over before a time are removed.
delete from workflow_batches
where finished_at < (select max(r.value ->> 'finished_before') from json_each(?1) as r)
