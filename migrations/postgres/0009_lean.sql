-- Fewer index entries for each row that is written.

-- An instance and its tasks are written together, in one transaction, and removed together: a check of every new task
-- against its instance finds nothing, and locks the instance's row.
alter table workflow_external_tasks drop constraint workflow_external_tasks_workflow_instance_id_fkey;

-- Lines are read by instance: the way to them is their key.
alter table workflow_journal drop constraint workflow_journal_pkey;
drop index workflow_journal_instance;
alter table workflow_journal add primary key (instance_id, id);
