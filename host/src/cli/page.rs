//! Which part of a list a command asks for: the same two flags everywhere.

use super::client::query;

/// Part of a list.
#[derive(Debug, clap::Args)]
pub(super) struct Page {
    /// How many.
    #[arg(long)]
    limit: Option<u32>,
    /// The cursor that the page before ended with.
    #[arg(long)]
    after: Option<String>,
}

impl Page {
    /// The parameters of a request for it, with others.
    pub(super) fn with<'a>(self, others: &[(&'a str, Option<String>)]) -> Vec<(&'a str, String)> {
        let own = [("limit", self.limit.map(|rows| rows.to_string())), ("after", self.after)];
        query(&[others, &own].concat())
    }
}
