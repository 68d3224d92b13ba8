-- PostgreSQL gets types here in which the host hands over rows. (SQLite takes them as JSON. The twin keeps both databases at
-- the same number.)
select 1;
