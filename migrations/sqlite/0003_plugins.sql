-- Components by digest, so that any host can decide any step. They belong to the host, not to a tenant.

create table workflow_plugins (
  digest text primary key not null,
  kind text not null,
  types text not null,
  descriptor text not null,
  -- Base64: a row travels as JSON.
  component text not null,
  created_at text not null,
  constraint workflow_plugins_kind check (kind in ('step', 'mapper'))
) strict;
