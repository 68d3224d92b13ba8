-- Subscriptions that a message matches, oldest first. A subscription without a correlation takes any
-- message. In two parts, so that both go by the index: thousands may wait for one name.
select row_to_json(t)::text
from workflow_subscriptions as t
where t.id in (
    select m.id from workflow_subscriptions as m
    where m.tenant = $1::json ->> 'tenant' and m.name = $1::json ->> 'name' and m.correlation is null
    union all
    select m.id from workflow_subscriptions as m
    where m.tenant = $1::json ->> 'tenant' and m.name = $1::json ->> 'name' and m.correlation = $1::json ->> 'correlation'
  )
  and (t.expires_at is null or t.expires_at > ($1::json ->> 'now')::timestamptz)
order by t.id
limit ($1::json ->> 'rows_max')::bigint
