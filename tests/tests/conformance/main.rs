//! What both databases must do alike, tried on real ones.

mod claims;
mod closing;
mod commits;
mod deadlines;
mod events;
mod fixture;
mod hints;
mod locks;
mod lost_commits;
mod opening;
mod outbox;
mod proxy;
mod reads;
mod reminders;
mod restarts;
mod start_keys;
mod tenants;
mod values;
