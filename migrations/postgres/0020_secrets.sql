-- Secrets of a tenant, sealed: who has the database alone cannot read them.

create table workflow_secrets (
  tenant text not null,
  name text not null,
  -- Base64 of nonce, ciphertext and tag; bound to tenant and name.
  sealed text not null,
  -- Which key opens it.
  key_id text not null,
  -- Where it may be sent to: host patterns.
  hosts jsonb not null,
  version bigint not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  constraint workflow_secrets_key primary key (tenant, name)
);

-- What is under an old key.
create index workflow_secrets_key_id on workflow_secrets (key_id);
