-- Events that were kept too long, over all tenants.
select row_to_json(t)::text
from workflow_kept_events as t
where t.expires_at <= ($1::json ->> 'now')::timestamptz
order by t.expires_at
limit ($1::json ->> 'rows_max')::bigint
