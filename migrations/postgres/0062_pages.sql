-- The lines that a transition writes for an instance are one row: the first as before, the others beside it, as JSON. A row and
-- its index entries cost more than its bytes. A line that was written before is a page of its own.
alter table workflow_journal add column more text;
-- Most pages have two to four kilobytes: to compress them costs more than to write them.
alter table workflow_journal set (toast_tuple_target = 8160);
