//! Which addresses a request may go to: those of the internet, and what the operator allows besides.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::secret::{check_host, matches};

/// What an operator allows beyond the internet: hosts by name, and addresses by network.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AllowHosts {
    hosts: Vec<String>,
    networks: Vec<(IpAddr, u8)>,
}

impl AllowHosts {
    /// From a list: `intern.example.org`, `*.example.org`, `127.0.0.1:8080`, `10.0.0.0/8`, divided by commas.
    pub fn parse(list: &str) -> Result<Self, String> {
        let mut allowed = Self::default();
        for item in list.split([',', ' ', '\n']).map(str::trim).filter(|item| !item.is_empty()) {
            match item.split_once('/') {
                Some((address, bits)) => {
                    let network = address.parse::<IpAddr>().ok().zip(bits.parse::<u8>().ok());
                    let sound = network.filter(|(address, bits)| *bits <= bits_of(*address));
                    allowed.networks.push(sound.ok_or_else(|| {
                        format!("`{item}` is no network: write an address and its bits, such as 10.0.0.0/8")
                    })?);
                }
                None => {
                    check_host(item)?;
                    allowed.hosts.push(item.to_owned());
                }
            }
        }
        Ok(allowed)
    }

    /// The same without the hosts: where names have been looked at already.
    #[must_use]
    pub fn networks_only(&self) -> Self {
        Self { hosts: Vec::new(), networks: self.networks.clone() }
    }

    /// Whether a host is allowed by its name, wherever that leads.
    pub fn host(&self, host: &str, port: u16) -> bool {
        self.hosts.iter().any(|pattern| matches(pattern, host, port))
    }

    /// Whether a request may go to an address.
    pub fn address(&self, address: IpAddr) -> bool {
        is_public(address) || self.networks.iter().any(|(network, bits)| within(address, *network, *bits))
    }
}

impl fmt::Display for AllowHosts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let networks = self.networks.iter().map(|(address, bits)| format!("{address}/{bits}"));
        f.write_str(&self.hosts.iter().cloned().chain(networks).collect::<Vec<_>>().join(","))
    }
}

/// Whether an address belongs to the internet at large: not to this machine, its neighbours or nobody.
pub fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    let shared = a == 100 && (64..128).contains(&b);
    let protocols = (a, b, c) == (192, 0, 0) || (a, b, c) == (192, 88, 99);
    let benchmarks = a == 198 && (b == 18 || b == 19);
    // A cloud's own services, at an address that looks like any other.
    let wire_server = address.octets() == [168, 63, 129, 16];
    !(a == 0
        || wire_server
        || a >= 224
        || shared
        || protocols
        || benchmarks
        || address.is_loopback()
        || address.is_private()
        || address.is_link_local()
        || address.is_documentation())
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    let parts = address.segments();
    let low = || {
        let [.., a, b, c, d] = address.octets();
        Ipv4Addr::new(a, b, c, d)
    };
    match parts {
        // Addresses of IPv4 in other clothes: mapped, translated (NAT64), and 6to4.
        [0, 0, 0, 0, 0, 0xffff, ..] | [0x64, 0xff9b, 0, 0, 0, 0, ..] => is_public_v4(low()),
        [0x2002, high, next, ..] => {
            let ([a, b], [c, d]) = (high.to_be_bytes(), next.to_be_bytes());
            is_public_v4(Ipv4Addr::new(a, b, c, d))
        }
        // Teredo, protocols, documentation.
        [0x2001, 0..0x200, ..] | [0x2001, 0xdb8, ..] | [0x3fff, 0..0x1000, ..] => false,
        // Whatever else is not global unicast.
        [first, ..] => first & 0xe000 == 0x2000,
    }
}

/// Whether an address lies in a network. One of IPv4 that is written as IPv6 is still one of IPv4.
fn within(address: IpAddr, network: IpAddr, bits: u8) -> bool {
    let shift = |width: u8| u32::from(width.saturating_sub(bits));
    match (address.to_canonical(), network.to_canonical()) {
        (IpAddr::V4(address), IpAddr::V4(network)) => {
            let (one, other) = (u64::from(address.to_bits()), u64::from(network.to_bits()));
            one >> shift(32) == other >> shift(32)
        }
        (IpAddr::V6(address), IpAddr::V6(network)) => {
            bits == 0 || address.to_bits() >> shift(128) == network.to_bits() >> shift(128)
        }
        _ => false,
    }
}

fn bits_of(address: IpAddr) -> u8 {
    if address.is_ipv4() { 32 } else { 128 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_internet_is_public() {
        for inside in [
            "0.0.0.0",
            "0.1.2.3",
            "127.0.0.1",
            "127.9.9.9",
            "10.0.0.1",
            "172.16.0.1",
            "172.31.255.255",
            "192.168.1.1",
            "169.254.169.254",
            "100.64.0.1",
            "192.0.0.8",
            "192.0.2.1",
            "198.18.0.1",
            "198.51.100.1",
            "203.0.113.9",
            "224.0.0.1",
            "240.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::ffff:127.0.0.1",
            "::ffff:10.0.0.1",
            "::127.0.0.1",
            "64:ff9b::7f00:1",
            "64:ff9b:1::1",
            "fe80::1",
            "fec0::1",
            "fc00::1",
            "fd12:3456::1",
            "ff02::1",
            "2002:7f00:1::",
            "2002:c0a8:101::1",
            "2001::1",
            "2001:db8::1",
            "100::1",
            "3fff::1",
        ] {
            assert!(!is_public(inside.parse().unwrap()), "{inside}");
        }
        for outside in [
            "1.1.1.1",
            "8.8.8.8",
            "172.32.0.1",
            "100.128.0.1",
            "192.0.1.1",
            "198.20.0.1",
            "223.255.255.1",
            "::ffff:8.8.8.8",
            "64:ff9b::808:808",
            "2606:4700::1111",
            "2002:808:808::1",
            "2a00:1450::1",
        ] {
            assert!(is_public(outside.parse().unwrap()), "{outside}");
        }
    }

    #[test]
    fn an_operator_allows_hosts_and_networks() {
        let allowed =
            AllowHosts::parse("mail.intern:25, *.corp.example,127.0.0.1:8080 10.0.0.0/8,fd00::/8").unwrap();
        assert!(allowed.host("mail.intern", 25) && !allowed.host("mail.intern", 26));
        assert!(allowed.host("a.corp.example", 1) && !allowed.host("corp.example.evil", 1));
        assert!(allowed.host("127.0.0.1", 8080) && !allowed.host("127.0.0.1", 8081));
        for (address, expected) in [
            ("10.1.2.3", true),
            ("::ffff:10.1.2.3", true),
            ("11.1.2.3", true),
            ("192.168.0.1", false),
            ("fd12::1", true),
            ("fe80::1", false),
        ] {
            assert_eq!(allowed.address(address.parse().unwrap()), expected, "{address}");
        }
        assert!(AllowHosts::parse("0.0.0.0/0").unwrap().address("127.0.0.1".parse().unwrap()));
        assert!(AllowHosts::parse("::/0").unwrap().address("::1".parse().unwrap()));
        for wrong in ["10.0.0.0/33", "10.0.0/8", "x/8", "http://a", "*"] {
            assert!(AllowHosts::parse(wrong).is_err(), "{wrong}");
        }
    }
}
