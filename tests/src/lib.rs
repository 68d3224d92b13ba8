//! What the test suites share: real databases, one for each test.

pub mod db;
pub mod postgres;
