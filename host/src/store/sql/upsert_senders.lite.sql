-- Senders, new or with other settings.
insert into workflow_senders (tenant, name, channel, is_default, settings, created_at, updated_at)
select
  r.value ->> 'tenant', r.value ->> 'name', r.value ->> 'channel', r.value ->> 'is_default',
  r.value -> 'settings', r.value ->> 'created_at', r.value ->> 'updated_at'
from json_each(?1) as r
where true
on conflict (tenant, name) do update set
  channel = excluded.channel, is_default = excluded.is_default, settings = excluded.settings,
  updated_at = excluded.updated_at
