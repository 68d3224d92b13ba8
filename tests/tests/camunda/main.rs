//! Camunda 7's surface: each endpoint with Camunda's statuses and messages, and Camunda's own clients, unchanged.

mod bad_input;
mod batches;
mod bounds;
mod clients;
mod crowds;
mod fetching;
mod instances;
mod locks;
mod queries;
mod registry;
mod reports;
mod support;
mod two_hosts;
