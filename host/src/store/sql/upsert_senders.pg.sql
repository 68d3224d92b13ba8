-- Senders, new or with other settings.
insert into workflow_senders (tenant, name, channel, is_default, settings, created_at, updated_at)
select r.tenant, r.name, r.channel, r.is_default, r.settings, r.created_at, r.updated_at
from json_to_recordset($1::json) as r (
  tenant text, name text, channel text, is_default boolean, settings jsonb, created_at timestamptz,
  updated_at timestamptz
)
on conflict (tenant, name) do update set
  channel = excluded.channel, is_default = excluded.is_default, settings = excluded.settings,
  updated_at = excluded.updated_at
