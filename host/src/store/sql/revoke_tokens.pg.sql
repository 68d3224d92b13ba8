-- Tokens are no longer valid. The first revocation counts.
update workflow_tokens as t set revoked_at = r.at
from json_to_recordset($1::json) as r (tenant text, id uuid, at timestamptz)
where t.id = r.id and t.tenant = r.tenant and t.revoked_at is null
