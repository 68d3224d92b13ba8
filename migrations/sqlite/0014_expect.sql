-- PostgreSQL gets a function here that ends a batch in one statement. (SQLite has no use for it: its statements are
-- run one by one without a wait between them. The twin keeps both databases at the same number.)
select 1;
