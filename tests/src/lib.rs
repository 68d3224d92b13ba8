//! What the tests stand on: real hosts, real databases, conditions instead of sleeps.

pub mod collector;
pub mod command;
pub mod db;
pub mod endpoint;
pub mod guests;
pub mod host;
pub mod kafka;
pub mod mail;
pub mod postgres;
pub mod proxy;
pub mod records;
