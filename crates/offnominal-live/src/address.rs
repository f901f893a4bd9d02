//! Where the page is, and who may see it.
//!
//! Without a token only this machine is served, and only under a name of this machine. The second rule matters: a page from
//! anywhere can make a browser of this machine ask for `http://its.name:PORT/`, and its name may lead to 127.0.0.1 the next
//! time it is looked up (DNS rebinding). The header `Host` then has that name, and the request is refused.

use super::http::Request;
use anyhow::{Context, Result, ensure};
use sha2::{Digest, Sha256};
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};

/// The shortest token; a short one could be guessed.
const SHORTEST: usize = 16;

/// Where a server listens, and what it asks of whoever comes.
#[derive(Debug, Clone)]
pub struct Address {
    at: Vec<SocketAddr>,
    is_loopback: bool,
    /// The digest of the token: digests have one length, so comparing them tells nothing of the token's.
    token: Option<[u8; 32]>,
}

/// Why a request is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// It has not the token.
    NoToken,
    /// It asks for another host.
    ForeignHost,
}

impl Address {
    /// Reads `ADDRESS:PORT`; port 0 is any that is free.
    ///
    /// # Errors
    /// If it is no address, is not one of this machine alone and there is no token, or the token is too short or has
    /// characters that a header cannot have.
    pub fn new(text: &str, token: Option<&str>) -> Result<Address> {
        let at = text.to_socket_addrs().with_context(|| {
            format!("serve: expected ADDRESS:PORT, such as 127.0.0.1:8080, found {text:?}")
        })?;
        let at: Vec<SocketAddr> = at.collect();
        let is_loopback = !at.is_empty() && at.iter().all(|at| at.ip().to_canonical().is_loopback());
        ensure!(
            is_loopback || token.is_some(),
            "serve: expected an address of this machine alone, such as 127.0.0.1:8080, or a token for others \
             (--token or OFFNOMINAL_TOKEN), found {text:?} without a token"
        );
        if let Some(token) = token {
            let is_sound = token.len() >= SHORTEST && token.bytes().all(|b| b.is_ascii_graphic());
            ensure!(
                is_sound,
                "token: expected at least {SHORTEST} visible ASCII characters without spaces, found {}",
                token.len()
            );
        }
        Ok(Address { at, is_loopback, token: token.map(digest) })
    }

    /// Where to listen.
    pub fn at(&self) -> &[SocketAddr] {
        &self.at
    }

    /// Whether a token is needed.
    pub fn has_token(&self) -> bool {
        self.token.is_some()
    }

    /// Whether a request may be answered.
    ///
    /// # Errors
    /// If it may not.
    pub fn admits(&self, request: &Request) -> Result<(), Refusal> {
        if self.is_loopback && !request.header("host").is_some_and(is_of_this_machine) {
            return Err(Refusal::ForeignHost);
        }
        let Some(expected) = &self.token else { return Ok(()) };
        let bearer = request.header("authorization").and_then(|value| value.strip_prefix("Bearer "));
        let found = bearer.map(str::to_string).or_else(|| request.query("token"));
        match found {
            Some(token) if is_same(expected, &digest(&token)) => Ok(()),
            _ => Err(Refusal::NoToken),
        }
    }
}

fn digest(token: &str) -> [u8; 32] {
    Sha256::digest(token.as_bytes()).into()
}

/// Takes as long for any difference.
fn is_same(a: &[u8; 32], b: &[u8; 32]) -> bool {
    std::hint::black_box(a.iter().zip(b).fold(0, |differs, (a, b)| differs | (a ^ b))) == 0
}

/// Whether a `Host` is a name of this machine, whatever the port.
fn is_of_this_machine(host: &str) -> bool {
    let name = match host.strip_prefix('[') {
        Some(rest) => rest.split_once(']').map_or("", |(name, _)| name),
        None => host.rsplit_once(':').map_or(host, |(name, _)| name),
    };
    name.eq_ignore_ascii_case("localhost")
        || name.parse::<IpAddr>().is_ok_and(|ip| ip.to_canonical().is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOKEN: &str = "0123456789abcdef";

    fn request(target: &str, headers: &str) -> Request {
        Request::parse(format!("GET {target} HTTP/1.1\r\n{headers}\r\n\r\n").as_bytes()).unwrap()
    }

    #[test]
    fn another_machine_needs_a_token() {
        let error = Address::new("0.0.0.0:0", None).unwrap_err().to_string();
        assert!(error.contains("found \"0.0.0.0:0\" without a token"), "{error}");
        assert!(Address::new("0.0.0.0:0", Some(TOKEN)).is_ok() && Address::new("[::1]:0", None).is_ok());
        assert!(Address::new("127.0.0.1", None).unwrap_err().to_string().contains("expected ADDRESS:PORT"));
        for weak in ["short", "0123456789 abcdef", ""] {
            let error = Address::new("127.0.0.1:0", Some(weak)).unwrap_err().to_string();
            assert!(error.starts_with("token: expected at least 16"), "{error}");
        }
    }

    #[test]
    fn only_names_of_this_machine_are_served() {
        let address = Address::new("127.0.0.1:0", None).unwrap();
        for host in ["127.0.0.1:80", "localhost", "LOCALHOST:1", "[::1]:80", "127.0.0.2"] {
            assert_eq!(address.admits(&request("/", &format!("Host: {host}"))), Ok(()), "{host}");
        }
        for host in
            ["evil.example:80", "localhost.evil.example", "127.0.0.1.evil.example", "", "[::1", "8.8.8.8"]
        {
            let found = address.admits(&request("/", &format!("Host: {host}")));
            assert_eq!(found, Err(Refusal::ForeignHost), "{host}");
        }
        assert_eq!(address.admits(&request("/", "Accept: *")), Err(Refusal::ForeignHost));
    }

    #[test]
    fn a_token_is_needed_in_every_request() {
        let address = Address::new("0.0.0.0:0", Some(TOKEN)).unwrap();
        let bearer = format!("Host: a\r\nAuthorization: Bearer {TOKEN}");
        assert_eq!(address.admits(&request("/", &bearer)), Ok(()));
        assert_eq!(address.admits(&request(&format!("/?a=b&token={TOKEN}"), "Host: a")), Ok(()));
        for wrong in ["/", "/?token=", "/?token=0123456789abcdeF", "/?token=0123456789abcdef0"] {
            assert_eq!(address.admits(&request(wrong, "Host: a")), Err(Refusal::NoToken), "{wrong}");
        }
    }
}
