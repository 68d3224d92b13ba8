-- Tenants and the tokens that speak for them.

create table workflow_tenants (
  id text primary key not null,
  created_at text not null
) strict;

create table workflow_tokens (
  id text primary key not null,
  tenant text not null,
  role text not null,
  name text not null,
  -- SHA-256 in hex: the secret itself is never stored.
  secret_hash text not null,
  created_at text not null,
  expires_at text,
  revoked_at text,
  constraint workflow_tokens_role check (role in ('worker', 'sender', 'operator', 'admin'))
) strict;

-- A tenant's list, in order of making.
create index workflow_tokens_list on workflow_tokens (tenant, id);
