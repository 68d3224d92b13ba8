-- Whether any token exists that was not revoked. An expired one counts: a host must not open up because time
-- passed.
select iif(exists (select 1 from workflow_tokens where revoked_at is null), 'true', 'false')
where ?1 is not null
