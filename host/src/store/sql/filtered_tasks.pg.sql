-- Tasks of a type that can be handed out and that a worker's filters let through. Only the first of the queue are looked
-- at; every row says how many those were, and one row comes even if no task does.
with looked as materialized (
  select p.id, p.workflow_instance_id
  from workflow_external_tasks as p
  where p.tenant = $1::json ->> 'tenant' and p.task_type = $1::json ->> 'task_type'
    and p.status = 'PENDING' and p.available_at <= ($1::json ->> 'now')::timestamptz
  order by p.turn_at, p.id
  limit ($1::json ->> 'look_max')::bigint
), found as (
  select t.*
  from looked as l
  join workflow_external_tasks as t on t.id = l.id
  join workflow_instances as i on i.id = l.workflow_instance_id
  where i.status <> 'paused'
    and ($1::json ->> 'business_key' is null or t.business_key = $1::json ->> 'business_key')
    and ($1::json ->> 'definition_ids' is null or t.workflow_key || ':' || i.workflow_version in (
      select e from json_array_elements_text(coalesce($1::json ->> 'definition_ids', '[]')::json) as e))
    and ($1::json ->> 'workflow_keys' is null or t.workflow_key in (
      select e from json_array_elements_text(coalesce($1::json ->> 'workflow_keys', '[]')::json) as e))
    and ($1::json ->> 'version_tag' is null or exists (
      select 1 from workflow_definitions as d
      where d.tenant = t.tenant and d.key = t.workflow_key and d.version = i.workflow_version
        and d.document ->> 'versionTag' like $1::json ->> 'version_tag' escape ''))
    and ($1::json ->> 'variables' is null or exists (
      select 1 from json_each(coalesce($1::json ->> 'variables', '{}')::json) as v
      where i.context -> v.key = v.value::jsonb))
  order by
    case when ($1::json ->> 'by_priority')::boolean then t.priority end,
    case when not ($1::json ->> 'newest_first')::boolean then t.created_at end,
    case when ($1::json ->> 'newest_first')::boolean then t.created_at end desc,
    t.turn_at, t.id
  limit ($1::json ->> 'rows_max')::bigint
)
select json_build_object('looked_at', c.looked_at, 'task', case when f.id is not null then row_to_json(f) end)::text
from (select count(*) as looked_at from looked) as c
left join found as f on true
