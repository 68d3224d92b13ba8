-- Lanes that no host has used for long: their hosts are gone.
delete from workflow_lanes where touched_at < ($1::json ->> 'before')::timestamptz
