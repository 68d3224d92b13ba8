-- Whether any token exists that was not revoked. An expired one counts: a host must not open up because time
-- passed.
select to_json(exists (select 1 from workflow_tokens where revoked_at is null))::text
from (select $1::json) as a
