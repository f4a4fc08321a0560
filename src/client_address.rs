//! Whose request it is: the address at the other end of the connection, or, where that is a proxy that the settings
//! trust, the one that the proxy saw. A header alone makes nobody somebody else.

use std::{
    net::{IpAddr, Ipv6Addr, SocketAddr},
    str::FromStr,
    sync::Arc,
};

use axum::http::{HeaderMap, HeaderName};
use ipnet::IpNet;

const FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");

/// The visitor's address, in the extensions of every request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ClientAddress(pub IpAddr);

/// The proxies whose word is taken.
#[derive(Clone, Debug, Default)]
pub struct TrustedProxies(Arc<[IpNet]>);

impl TrustedProxies {
    /// Proxies in these networks.
    #[must_use]
    pub fn new(networks: &[IpNet]) -> Self {
        Self(networks.into())
    }

    /// Is this one of them?
    #[must_use]
    pub fn contain(&self, address: IpAddr) -> bool {
        self.0.iter().any(|network| network.contains(&address))
    }

    /// Is the request's other end one of them?
    #[must_use]
    pub fn sent(&self, peer: IpAddr) -> bool {
        self.contain(peer.to_canonical())
    }

    /// Who sent a request that came from `peer`: the right-most address in `X-Forwarded-For` that is no trusted proxy,
    /// for what stands left of it anybody may have written. The peer, where it is not trusted or says nothing that
    /// can be read.
    #[must_use]
    pub fn client(&self, peer: IpAddr, headers: &HeaderMap) -> ClientAddress {
        let peer = peer.to_canonical();
        if !self.contain(peer) {
            return ClientAddress(peer);
        }
        let lines: Vec<&str> = headers
            .get_all(FORWARDED_FOR)
            .iter()
            .map(|line| line.to_str().unwrap_or("?"))
            .collect();
        let hops = lines.iter().rev().flat_map(|line| line.rsplit(','));
        let seen = hops
            .map(|hop| address_of(hop.trim()))
            .find(|address| address.is_none_or(|address| !self.contain(address)));
        ClientAddress(seen.flatten().unwrap_or(peer))
    }
}

/// Some proxies add the port.
fn address_of(hop: &str) -> Option<IpAddr> {
    let address = IpAddr::from_str(hop)
        .or_else(|_| SocketAddr::from_str(hop).map(|hop| hop.ip()))
        .ok()?;
    Some(address.to_canonical())
}

/// An address, or a network, as the settings name trusted proxies.
///
/// # Errors
/// When it is neither.
pub fn network_of(text: &str) -> Result<IpNet, String> {
    let text = text.trim();
    IpAddr::from_str(text)
        .map(|address| IpNet::from(address.to_canonical()))
        .or_else(|_| IpNet::from_str(text))
        .map_err(|_| "neither an address nor a network like 10.0.0.0/8".to_owned())
}

/// Who counts as one where addresses are counted: of IPv6 a household has 2^64 addresses, its /64.
#[must_use]
pub fn household(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() >> 64 << 64).into(),
        address => address,
    }
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    fn client(trusted: &[&str], peer: &str, forwarded: &[&str]) -> String {
        let networks: Vec<IpNet> = trusted
            .iter()
            .map(|text| network_of(text).unwrap())
            .collect();
        let mut headers = HeaderMap::new();
        for line in forwarded {
            headers.append(FORWARDED_FOR, HeaderValue::from_str(line).unwrap());
        }
        let peer = peer.parse().unwrap();
        let ClientAddress(address) = TrustedProxies::new(&networks).client(peer, &headers);
        address.to_string()
    }

    #[test]
    fn a_header_alone_makes_nobody_somebody_else() {
        assert_eq!(client(&[], "9.9.9.9", &["1.2.3.4"]), "9.9.9.9");
        assert_eq!(client(&["10.0.0.0/8"], "9.9.9.9", &["1.2.3.4"]), "9.9.9.9");
        assert_eq!(client(&["::1"], "127.0.0.1", &["1.2.3.4"]), "127.0.0.1");
    }

    #[test]
    fn a_trusted_proxy_is_believed_what_it_saw_itself_and_no_more() {
        let proxies = ["10.0.0.0/8", "127.0.0.1"];
        let behind = |forwarded: &[&str]| client(&proxies, "127.0.0.1", forwarded);
        assert_eq!(behind(&["1.2.3.4"]), "1.2.3.4");
        assert_eq!(
            behind(&["6.6.6.6, 1.2.3.4"]),
            "1.2.3.4",
            "the visitor wrote the first"
        );
        assert_eq!(
            behind(&["6.6.6.6, 1.2.3.4,10.1.1.1"]),
            "1.2.3.4",
            "through two proxies"
        );
        assert_eq!(
            behind(&["6.6.6.6", "1.2.3.4", "10.1.1.1"]),
            "1.2.3.4",
            "several headers are one"
        );
        assert_eq!(behind(&["1.2.3.4:5678"]), "1.2.3.4");
        assert_eq!(behind(&["[2001:db8::1]:443"]), "2001:db8::1");
        assert_eq!(behind(&["::ffff:1.2.3.4"]), "1.2.3.4");
    }

    #[test]
    fn what_cannot_be_read_is_the_proxy() {
        let proxies = ["10.0.0.0/8", "127.0.0.1"];
        for forwarded in [
            &[][..],
            &[""],
            &["unknown"],
            &["1.2.3.4, unknown"],
            &["1.2.3.4,"],
            &["10.1.1.1"],
        ] {
            assert_eq!(
                client(&proxies, "127.0.0.1", forwarded),
                "127.0.0.1",
                "{forwarded:?}"
            );
        }
        assert_eq!(
            client(&proxies, "::ffff:127.0.0.1", &["1.2.3.4"]),
            "1.2.3.4"
        );
    }

    #[test]
    fn a_household_counts_as_one() {
        let of = |text: &str| household(text.parse().unwrap()).to_string();
        assert_eq!(of("2001:db8:1:2:3:4:5:6"), "2001:db8:1:2::");
        assert_eq!(of("1.2.3.4"), "1.2.3.4");
        assert_eq!(of("::ffff:1.2.3.4"), "1.2.3.4");
    }

    #[test]
    fn proxies_are_addresses_or_networks() {
        assert_eq!(network_of(" 10.0.0.0/8").unwrap().to_string(), "10.0.0.0/8");
        assert_eq!(network_of("::1").unwrap().to_string(), "::1/128");
        assert!(
            network_of("localhost").is_err()
                && network_of("10.0.0.0/33").is_err()
                && network_of("").is_err()
        );
    }
}
