-- Operators list the timers of a tenant, newest first: those that have fired, or those that have not.
create index workflow_timers_list on workflow_timers (tenant, triggered, id);
