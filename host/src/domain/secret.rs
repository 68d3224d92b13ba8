//! Secrets: what a tenant's requests carry to some hosts, and nobody may read.

use std::net::IpAddr;

use serde::{Deserialize, Serialize};

use super::{TenantId, Timestamp};

/// The longest name.
pub const NAME_CHARS_MAX: usize = 100;
/// The longest value.
pub const VALUE_BYTES_MAX: usize = 16 << 10;
/// Secrets of one tenant.
pub const SECRETS_MAX: usize = 1_000;
/// Host patterns of one secret.
pub const HOSTS_MAX: usize = 50;
/// The longest host pattern.
const HOST_CHARS_MAX: usize = 260;

/// A row of `workflow_secrets`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Secret {
    /// Whose it is.
    pub tenant: TenantId,
    /// Its name.
    pub name: String,
    /// Its value, sealed.
    pub sealed: String,
    /// Which key opens it.
    pub key_id: String,
    /// Where it may be sent to.
    pub hosts: Vec<String>,
    /// Raised when it gets a new value.
    pub version: i64,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it got its value.
    pub updated_at: Timestamp,
}

impl Secret {
    /// Whether it may be sent to a host.
    pub fn granted_to(&self, host: &str, port: u16) -> bool {
        self.hosts.iter().any(|pattern| matches(pattern, host, port))
    }
}

/// Whether a name can be that of a secret: `${secrets.NAME}` must be able to say it.
pub fn check_name(name: &str) -> Result<(), String> {
    let fine = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    if name.is_empty() || name.len() > NAME_CHARS_MAX || !name.chars().all(fine) {
        return Err(format!("is a name of 1 to {NAME_CHARS_MAX} letters, digits, `-` and `_`"));
    }
    Ok(())
}

/// Whether something is a host pattern: `api.example.org`, `*.example.org`, either with `:443`, or an address.
pub fn check_host(pattern: &str) -> Result<(), String> {
    let (host, port) = split(pattern);
    let name = host.strip_prefix("*.").unwrap_or(host);
    let fine = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | ':');
    let sound = !name.is_empty()
        && pattern.len() <= HOST_CHARS_MAX
        && name.chars().all(fine)
        && (!(name.contains(':') || pattern.starts_with('[')) || name.parse::<std::net::Ipv6Addr>().is_ok())
        && port.is_none_or(|port| port.parse::<u16>().is_ok_and(|port| port > 0));
    if sound {
        return Ok(());
    }
    Err(format!(
        "`{}` is no host: write api.example.org, *.example.org, or either with a port such as :443",
        pattern.chars().take(80).collect::<String>()
    ))
}

/// Whether a pattern means a host.
pub fn matches(pattern: &str, host: &str, port: u16) -> bool {
    let (name, wanted_port) = split(pattern);
    if wanted_port.is_some_and(|wanted| wanted.parse() != Ok(port)) {
        return false;
    }
    let host = host.trim_start_matches('[').trim_end_matches(']').trim_end_matches('.');
    match name.strip_prefix("*.") {
        Some(domain) => {
            let (host, domain) = (host.to_ascii_lowercase(), domain.to_ascii_lowercase());
            host.strip_suffix(domain.as_str()).is_some_and(|rest| rest.len() > 1 && rest.ends_with('.'))
        }
        // One address has many spellings.
        None => match (name.parse::<IpAddr>(), host.parse::<IpAddr>()) {
            (Ok(one), Ok(other)) => one == other,
            _ => name.eq_ignore_ascii_case(host),
        },
    }
}

/// Host and port of a pattern; an IPv6 address stands in brackets if a port follows.
fn split(pattern: &str) -> (&str, Option<&str>) {
    if let Some(rest) = pattern.strip_prefix('[') {
        return match rest.split_once(']') {
            Some((host, "")) => (host, None),
            Some((host, port)) => (host, Some(port.strip_prefix(':').unwrap_or("none"))),
            None => (pattern, None),
        };
    }
    match pattern.split_once(':') {
        // More than one colon is an address of IPv6.
        Some((_, rest)) if rest.contains(':') => (pattern, None),
        Some((host, port)) => (host, Some(port)),
        None => (pattern, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_means_a_host_and_no_other() {
        for (pattern, host, port, expected) in [
            ("api.example.org", "api.example.org", 443, true),
            ("api.example.org", "API.Example.org.", 80, true),
            ("api.example.org", "evil.org", 443, false),
            ("api.example.org", "api.example.org.evil.org", 443, false),
            ("api.example.org:443", "api.example.org", 443, true),
            ("api.example.org:443", "api.example.org", 80, false),
            ("*.example.org", "api.example.org", 443, true),
            ("*.example.org", "a.b.example.org", 443, true),
            ("*.example.org", "example.org", 443, false),
            ("*.example.org", ".example.org", 443, false),
            ("*.example.org", "evilexample.org", 443, false),
            ("127.0.0.1:8080", "127.0.0.1", 8080, true),
            ("[::1]:8080", "[::1]", 8080, true),
            ("::1", "[::1]", 8080, true),
            ("[::1]:8080", "::1", 80, false),
            ("[::ffff:127.0.0.1]:1", "::ffff:7f00:1", 1, true),
        ] {
            assert_eq!(matches(pattern, host, port), expected, "{pattern} {host}:{port}");
        }
    }

    #[test]
    fn what_is_no_pattern_is_refused() {
        for wrong in
            ["", "*", "*.", "a b", "a/b", "http://a", "a:0", "a:99999", "a:x", "[::1]x", "[zz]:1", "a@b"]
        {
            assert!(check_host(wrong).is_err(), "{wrong}");
        }
        for right in ["a", "a.b-c.org:1", "*.a.org", "10.0.0.1:25", "::1", "[::1]", "[::1]:25"] {
            assert!(check_host(right).is_ok(), "{right}");
        }
        for wrong in ["", "a.b", "a b", "ä", "~"] {
            assert!(check_name(wrong).is_err(), "{wrong}");
        }
        assert!(check_name("SLACK_HOOK-2").is_ok());
    }
}
