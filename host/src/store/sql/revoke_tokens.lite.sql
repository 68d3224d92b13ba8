-- Tokens are no longer valid. The first revocation counts.
update workflow_tokens as t set revoked_at = r.value ->> 'at'
from json_each(?1) as r
where t.id = r.value ->> 'id' and t.tenant = r.value ->> 'tenant' and t.revoked_at is null
