-- One row for each lane of a host: the number of the last transaction that was committed on it.
-- When the answer to COMMIT is lost, the number tells whether it was done. (SQLite has no use for it; the twin
-- keeps both databases at the same number.)

create table workflow_lanes (
  id text primary key not null,
  number integer not null,
  touched_at text not null
) strict;
