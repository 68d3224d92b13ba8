-- Waits that ended before a time are forgotten, some at once.
delete from execution_wait_states as t
using json_to_recordset($1::json) as r (ended_before timestamptz, rows_max bigint),
lateral (
  select w.id from execution_wait_states as w
  where w.status <> 'waiting' and w.updated_at < r.ended_before
  order by w.updated_at
  limit r.rows_max
) as o
where t.id = o.id and t.status <> 'waiting'
