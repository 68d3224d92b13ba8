-- Components by digest, so that any host can decide any step. They belong to the host, not to a tenant.

create table workflow_plugins (
  digest text primary key not null,
  kind text not null,
  types jsonb not null,
  descriptor jsonb not null,
  component bytea not null,
  created_at timestamptz(3) not null,
  constraint workflow_plugins_kind check (kind in ('step', 'mapper'))
);
