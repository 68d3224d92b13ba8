-- Workflows: each version is immutable. The key (tenant, key, version) is also the way to the newest one.

create table workflow_definitions (
  tenant text not null,
  key text not null,
  version integer not null,
  name text,
  digest text not null,
  source text not null,
  document text not null,
  created_at text not null,
  primary key (tenant, key, version)
) strict;
