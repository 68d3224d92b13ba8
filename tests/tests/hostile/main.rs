//! Plugins that mean harm, in a host that has other tenants: each is held with a clear error, and nobody else notices.
//!
//! `make test` runs a short form, which asserts that everything is right and tells how long others waited. `make hostile`
//! measures for longer, on both databases, and asserts that others wait at most 1.5 times as long as without.

mod beside;
mod files;
mod innocent;
mod kinds;
mod mob;
mod steps;
