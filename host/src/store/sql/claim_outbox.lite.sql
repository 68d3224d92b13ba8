-- Takes the due head of each ordering key, under a lease: what stands behind it waits, even for a later try.
update workflow_outbox as t set due_at = ?1 ->> 'lease_until'
where t.id in (
  select t.id from workflow_outbox as t
  where t.due_at <= ?1 ->> 'now'
    and not exists (
      select 1 from workflow_outbox as e
      where e.tenant = t.tenant and e.ordering_key = t.ordering_key and e.id < t.id
    )
  order by t.due_at
  limit ?1 ->> 'rows_max'
)
returning json_object(
  'id', id, 'tenant', tenant, 'instance_id', instance_id, 'step_execution_id', step_execution_id,
  'ordering_key', ordering_key, 'kind', kind, 'payload', payload, 'attempts', attempts, 'due_at', due_at,
  'last_error', last_error, 'created_at', created_at
)
