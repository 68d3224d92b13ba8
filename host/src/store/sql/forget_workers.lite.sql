-- Workers that nobody has heard of for long are forgotten, and the most silent ones of a tenant that has too many.
delete from workflow_external_workers
where id in (
  select n.id
  from json_each(?1) as r
  cross join (
    select w.id, w.last_seen_at,
      row_number() over (partition by w.tenant order by w.last_seen_at desc, w.id) as number
    from workflow_external_workers as w
  ) as n
  where n.last_seen_at < r.value ->> 'seen_before' or n.number > r.value ->> 'per_tenant_max'
)
