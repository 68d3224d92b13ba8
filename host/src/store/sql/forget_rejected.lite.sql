-- Refused events that are old, or beyond the newest of their tenant, are forgotten.
delete from workflow_rejected_events
where id in (
  select n.id
  from json_each(?1) as r
  cross join (
    select e.id, e.created_at, row_number() over (partition by e.tenant order by e.id desc) as number
    from workflow_rejected_events as e
  ) as n
  where n.created_at < r.value ->> 'created_before' or n.number > r.value ->> 'per_tenant_max'
)
