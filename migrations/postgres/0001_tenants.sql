-- Tenants and the tokens that speak for them.

create table workflow_tenants (
  id text primary key not null,
  created_at timestamptz(3) not null
);

create table workflow_tokens (
  id uuid primary key not null,
  tenant text not null,
  role text not null,
  name text not null,
  -- SHA-256 in hex: the secret itself is never stored.
  secret_hash text not null,
  created_at timestamptz(3) not null,
  expires_at timestamptz(3),
  revoked_at timestamptz(3),
  constraint workflow_tokens_role check (role in ('worker', 'sender', 'operator', 'admin'))
);

-- A tenant's list, in order of making.
create index workflow_tokens_list on workflow_tokens (tenant, id);
