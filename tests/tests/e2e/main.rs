//! A host from the outside: HTTP in, HTTP out, on both databases.

mod bad_input;
mod batches;
mod dead_letters;
mod deadlines;
mod definitions;
mod external_task;
mod graph;
mod long_poll;
mod messages;
mod operations;
mod patterns;
mod plugins;
mod preload;
mod rescue;
mod retention;
mod schedules;
mod schedules_api;
mod still;
mod tenants;
mod timers;
mod two_hosts;
mod virtual_time;
mod watch;
mod workers;
