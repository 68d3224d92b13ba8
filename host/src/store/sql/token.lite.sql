-- A token by its public part. The tenant is what it tells.
select json_object(
  'id', t.id, 'tenant', t.tenant, 'role', t.role, 'name', t.name, 'secret_hash', t.secret_hash,
  'created_at', t.created_at, 'expires_at', t.expires_at, 'revoked_at', t.revoked_at
)
from workflow_tokens as t
where t.id = ?1 ->> 'id'
