-- Secrets, new or with a new value.
insert into workflow_secrets (tenant, name, sealed, key_id, hosts, version, created_at, updated_at)
select
  r.value ->> 'tenant', r.value ->> 'name', r.value ->> 'sealed', r.value ->> 'key_id', r.value -> 'hosts',
  r.value ->> 'version', r.value ->> 'created_at', r.value ->> 'updated_at'
from json_each(?1) as r
where true
on conflict (tenant, name) do update set
  sealed = excluded.sealed, key_id = excluded.key_id, hosts = excluded.hosts,
  version = workflow_secrets.version + 1, updated_at = excluded.updated_at
