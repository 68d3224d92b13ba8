-- Tells other hosts. Each item is below the size that PostgreSQL takes.
select count(pg_notify('stepwell', p.payload))::text from json_array_elements_text($1::json) as p (payload)
