-- New tokens: the hash of a secret, never the secret.
insert into workflow_tokens (
  id, tenant, role, name, secret_hash, created_at, expires_at, revoked_at
)
select
  r.value ->> 'id', r.value ->> 'tenant', r.value ->> 'role', r.value ->> 'name', r.value ->> 'secret_hash',
  r.value ->> 'created_at', r.value ->> 'expires_at', r.value ->> 'revoked_at'
from json_each(?1) as r
