-- What a commit does for each of its rows. Only the host writes these tables, and its types have no other words; to look again
-- costs a statement 60 µs for each table (the server reads the expression anew) and each row one to three.
alter table workflow_instances drop constraint workflow_instances_status;
alter table workflow_steps drop constraint workflow_steps_status;
alter table workflow_external_tasks drop constraint workflow_external_tasks_status;

-- No index of a step changes with it, so where there is room on its page an update touches no index. Instances and tasks
-- have a state that is in an index: for them room on the page is room that is lost.
alter table workflow_steps set (fillfactor = 50);
alter table workflow_instances set (fillfactor = 100);
alter table workflow_external_tasks set (fillfactor = 100);
