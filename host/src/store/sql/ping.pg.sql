-- Whether the database answers.
select 'true' where $1::json is not null
