//! The binary as users meet it: commands, exit codes, signals, settings, the demo and the README.

mod bench;
mod commands;
mod crash;
mod demo;
mod events;
mod outage;
mod plugins;
mod readme;
mod reminders;
mod serving;
mod settings;
mod support;
mod timers;
mod tokens;
mod traces;
