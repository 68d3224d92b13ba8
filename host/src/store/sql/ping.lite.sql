-- Whether the database answers.
select 'true' where ?1 is not null
