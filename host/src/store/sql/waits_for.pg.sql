-- The waits that some events are for; of several attempts under one id, the newest first. The key leads to the row.
select row_to_json(t)::text
from (
  select distinct r.tenant, r.execution_id, r.correlation_id
  from json_to_recordset($1::json) as r (tenant text, execution_id uuid, correlation_id text)
) as r
cross join lateral (
  select w.* from execution_wait_states as w
  where w.execution_id = r.execution_id and w.correlation_id = r.correlation_id and (w.tenant = r.tenant) is true
  order by w.attempt desc, w.id desc
  limit 1
) as t
