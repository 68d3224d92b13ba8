-- Locks one pending task for each slot, by turn: for each type the index has the rows in that order. A row that
-- another host is taking is passed over. due_at is what Task::deadline computes.
-- The slots are arrays, so that the nth task finds the nth slot without a search.
with a as materialized (
  select ($1::json ->> 'now')::timestamptz as now, count(*) as rows_max,
    array_agg(slot ->> 'worker_id' order by number) as worker_ids,
    array_agg((slot ->> 'lock_token')::uuid order by number) as lock_tokens,
    array_agg((slot ->> 'lock_ms')::double precision / 1000 order by number) as lock_seconds
  from json_array_elements($1::json -> 'slots') with ordinality as s (slot, number)
), picked as materialized (
  select t.*
  from a
  cross join json_array_elements_text($1::json -> 'task_types') as w (task_type)
  cross join lateral (
    select p.id, p.turn_at, p.lock_duration_seconds,
      p.heartbeat_interval_seconds * greatest(p.heartbeat_max_missed, 1) as silence_seconds
    from workflow_external_tasks as p
    where p.tenant = $1::json ->> 'tenant' and p.task_type = w.task_type
      and p.status = 'PENDING' and p.available_at <= a.now
    order by p.turn_at, p.id
    limit a.rows_max
    for update skip locked
  ) as t
), numbered as (
  select *, row_number() over (order by turn_at, id) as number from picked
), held as materialized (
  select n.id, a.worker_ids[n.number] as worker_id, a.lock_tokens[n.number] as lock_token, a.now,
    least(a.now + make_interval(secs => least(coalesce(a.lock_seconds[n.number], n.lock_duration_seconds), 2.6e11)),
      '9999-12-31T23:59:59.999Z'::timestamptz) as lock_expires_at,
    case when n.silence_seconds is not null then
      least(a.now + make_interval(secs => least(n.silence_seconds, 2.6e11)), '9999-12-31T23:59:59.999Z'::timestamptz)
    end as heartbeat_due_at
  from a
  join numbered as n on n.number <= a.rows_max
)
update workflow_external_tasks as t set
  status = 'LOCKED', worker_id = h.worker_id, lock_token = h.lock_token, locked_at = h.now,
  last_heartbeat_at = h.now, updated_at = h.now, lock_expires_at = h.lock_expires_at,
  due_at = least(t.timeout_at, h.lock_expires_at, h.heartbeat_due_at),
  version = t.version + 1
from held as h
where t.id = h.id
returning row_to_json(t)::text
