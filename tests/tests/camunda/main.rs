//! Camunda 7's surface: each endpoint with Camunda's statuses and messages, and Camunda's own clients, unchanged.

mod clients;
mod support;
