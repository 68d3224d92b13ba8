-- PostgreSQL loses checks here that cost it much. (SQLite compiles its checks into the statement, and keeps them: so what
-- the host writes is checked in tests. The twin keeps both databases at the same number.)
select 1;
