-- New tokens: the hash of a secret, never the secret.
insert into workflow_tokens (
  id, tenant, role, name, secret_hash, created_at, expires_at, revoked_at
)
select
  r.id, r.tenant, r.role, r.name, r.secret_hash, r.created_at, r.expires_at, r.revoked_at
from json_to_recordset($1::json) as r (
  id uuid, tenant text, role text, name text, secret_hash text, created_at timestamptz,
  expires_at timestamptz, revoked_at timestamptz
)
