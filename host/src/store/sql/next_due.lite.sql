-- When something is due next, over all tenants: a task's deadline, a timer, a schedule, the head of an ordering key,
-- a delayed task that is not available yet. Each part reads one entry of an index.
select json_quote(n.due_at) from (
select min(d.due_at) as due_at from (
  select due_at from (select due_at from workflow_external_tasks where due_at is not null order by due_at limit 1) as t
  union all
  select due_at from (select due_at from workflow_timers where due_at is not null order by due_at limit 1) as t
  union all
  select due_at from (select due_at from workflow_schedules where due_at is not null order by due_at limit 1) as t
  union all
  select due_at from (
    select t.due_at from workflow_outbox as t
    where not exists (
      select 1 from workflow_outbox as e
      where e.tenant = t.tenant and e.ordering_key = t.ordering_key and e.id < t.id
    )
    order by t.due_at limit 1
  ) as t
  union all
  select due_at from (
    select available_at as due_at from workflow_external_tasks
    where status = 'PENDING' and available_at > created_at and available_at > ?1 ->> 'now'
    order by available_at limit 1
  ) as t
) as d
) as n
where n.due_at is not null
