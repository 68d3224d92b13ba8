-- Subscriptions that a message matches, oldest first. A subscription without a correlation takes any
-- message.
select row_to_json(t)::text
from workflow_subscriptions as t
where t.tenant = $1::json ->> 'tenant' and t.name = $1::json ->> 'name'
  and (t.correlation is null or t.correlation = $1::json ->> 'correlation')
  and (t.expires_at is null or t.expires_at > ($1::json ->> 'now')::timestamptz)
order by t.id
limit ($1::json ->> 'rows_max')::bigint
