//! Names become addresses here, and only those are connected to that a request may go to.

use std::error::Error as StdError;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use reqwest::dns::{Addrs, Name, Resolve, Resolving};

use crate::domain::address::AllowHosts;

/// A host that a request may not go to.
#[derive(Clone, Debug, thiserror::Error)]
#[error(
    "{host} leads to {address}, which is not an address of the internet: an operator can allow it with --allow-hosts"
)]
pub(super) struct Forbidden {
    /// The host.
    pub(super) host: String,
    /// Where it leads to.
    pub(super) address: IpAddr,
}

impl Forbidden {
    /// Finds the refusal behind a client's error.
    pub(super) fn behind<'a>(error: &'a (dyn StdError + 'static)) -> Option<&'a Self> {
        let mut next = Some(error);
        while let Some(error) = next {
            if let Some(found) = error.downcast_ref::<Self>() {
                return Some(found);
            }
            next = error.source();
        }
        None
    }
}

/// Looks a name up. Addresses that a request may not go to are left out; if no other is left, it is refused.
pub(super) async fn look_up(
    host: &str,
    port: u16,
    allowed: &AllowHosts,
) -> Result<Vec<SocketAddr>, Box<dyn StdError + Send + Sync>> {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    let found: Vec<SocketAddr> = match bare.parse::<IpAddr>() {
        Ok(address) => vec![SocketAddr::new(address, port)],
        Err(_) => tokio::net::lookup_host((bare, port)).await?.collect(),
    };
    if allowed.host(bare, port) {
        return Ok(found);
    }
    let (fine, refused): (Vec<_>, Vec<_>) = found.into_iter().partition(|at| allowed.address(at.ip()));
    match refused.first() {
        Some(at) if fine.is_empty() => Err(Box::new(Forbidden { host: bare.to_owned(), address: at.ip() })),
        _ => Ok(fine),
    }
}

/// The resolver of requests to hosts that nobody has allowed by name. The client connects to what it returns and
/// to nothing else, so a name cannot change between the look and the leap.
pub(super) struct Guarded {
    pub(super) allowed: Arc<AllowHosts>,
}

impl Resolve for Guarded {
    fn resolve(&self, name: Name) -> Resolving {
        let networks = self.allowed.networks_only();
        Box::pin(async move {
            // The port is the client's to put in.
            let found = look_up(name.as_str(), 0, &networks).await?;
            Ok(Box::new(found.into_iter()) as Addrs)
        })
    }
}
