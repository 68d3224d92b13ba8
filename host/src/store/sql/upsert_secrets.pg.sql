-- Secrets, new or with a new value.
insert into workflow_secrets (tenant, name, sealed, key_id, hosts, version, created_at, updated_at)
select r.tenant, r.name, r.sealed, r.key_id, r.hosts, r.version, r.created_at, r.updated_at
from json_to_recordset($1::json) as r (
  tenant text, name text, sealed text, key_id text, hosts jsonb, version bigint, created_at timestamptz,
  updated_at timestamptz
)
on conflict (tenant, name) do update set
  sealed = excluded.sealed, key_id = excluded.key_id, hosts = excluded.hosts,
  version = workflow_secrets.version + 1, updated_at = excluded.updated_at
