//! Input that nobody means well: definitions, templates, durations, paths and requests, by the thousand.
//!
//! The usual run has the same seed each time. `make fuzz` takes another seed and many more cases; a failure prints
//! the smallest input that was found, and the seed to find it again.

mod cases;
mod definitions;
mod durations;
mod http;
mod jsonpath;
mod plugins;
mod schemathesis;
mod templates;
mod wild;
