-- Every task has its turn, a moment; tasks are handed out in the order of their turns. It is made of the task's age, its
-- priority, and how many tasks its instance has before it.
alter table workflow_external_tasks add column turn_at text not null default '1970-01-01T00:00:00.000Z';
update workflow_external_tasks
set turn_at = coalesce(strftime('%Y-%m-%dT%H:%M:%fZ', created_at,
  ((min(max(priority, -995), 1005) - 5) * 3600) || ' seconds'), created_at)
where status in ('PENDING', 'LOCKED', 'FAILED');

-- A poll reads the first rows of its type in the order in which they are handed out.
drop index idx_external_tasks_poll;
create index idx_external_tasks_poll
  on workflow_external_tasks (tenant, task_type, turn_at, id) where status = 'PENDING';

-- Where an instance's next turn of each task type and priority is, as long as that lies ahead.
alter table workflow_instances add column turns text;
