-- Takes the due head of each ordering key, under a lease: what stands behind it waits, even for a later try.
with picked as (
  select t.id from workflow_outbox as t
  where t.due_at <= ($1::json ->> 'now')::timestamptz
    and not exists (
      select 1 from workflow_outbox as e
      where e.tenant = t.tenant and e.ordering_key = t.ordering_key and e.id < t.id
    )
  order by t.due_at
  limit ($1::json ->> 'rows_max')::bigint
  for update skip locked
)
update workflow_outbox as t set due_at = ($1::json ->> 'lease_until')::timestamptz
from picked as p
where t.id = p.id
returning row_to_json(t)::text
