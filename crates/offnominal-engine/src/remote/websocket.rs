//! A WebSocket (RFC 6455) from the side of a client, without encryption and compression.

mod message;

use super::wait::Deadline;
use anyhow::{Context, Result, bail, ensure};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
pub(super) use message::message;
use offnominal_core::Rng;
use sha1::{Digest, Sha1};
use std::io::{ErrorKind, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// What a server appends to the key before it takes the digest.
const GUID: &str = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

/// The most bytes of an answer to the first request.
const LONGEST_HEAD: usize = 1 << 14;

/// Characters of an answer that errors show.
const SHOWN: usize = 200;

/// A connection.
pub(super) struct WebSocket {
    stream: TcpStream,
    limit: Duration,
    masks: Rng,
    received: Vec<u8>,
    sent: Vec<u8>,
}

impl WebSocket {
    /// Connects to a server, with a key for `Authorization` if there is one.
    ///
    /// # Errors
    /// If nobody is there, or it speaks something else.
    pub(super) fn open(
        address: &str,
        path: &str,
        api_key: Option<&str>,
        limit: Duration,
    ) -> Result<WebSocket> {
        let addresses =
            address.to_socket_addrs().with_context(|| format!("cannot find the host of {address}"))?;
        let mut stream = Err(std::io::Error::new(ErrorKind::NotFound, "it has no address"));
        for place in addresses {
            stream = TcpStream::connect_timeout(&place, limit);
            if stream.is_ok() {
                break;
            }
        }
        let stream = stream.with_context(|| format!("cannot connect to {address}"))?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(super::wait::SLICE))?;
        stream.set_write_timeout(Some(limit))?;
        let seed = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |now| now.as_nanos() as u64);
        let mut own = WebSocket { stream, limit, masks: Rng::new(seed), received: vec![], sent: vec![] };
        own.greet(address, path, api_key)?;
        Ok(own)
    }

    /// Asks the server to speak WebSocket.
    fn greet(&mut self, address: &str, path: &str, api_key: Option<&str>) -> Result<()> {
        let nonce: Vec<u8> = (0..16).map(|_| self.masks.below(256) as u8).collect();
        let key = STANDARD.encode(nonce);
        let authorization = api_key.map_or(String::new(), |key| format!("Authorization: Api-Key {key}\r\n"));
        let request = format!(
            "GET {path} HTTP/1.1\r\nHost: {address}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
             Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n{authorization}\r\n"
        );
        self.stream.write_all(request.as_bytes())?;
        let head = self.head()?;
        let status = head.lines().next().unwrap_or_default();
        let shown = || status.chars().filter(|c| !c.is_control()).take(SHOWN).collect::<String>();
        ensure!(status.split(' ').nth(1) == Some("101"), "expected a WebSocket, found {:?}", shown());
        let accept = head.lines().filter_map(|line| line.split_once(':'));
        let accept = accept.filter(|(name, _)| name.eq_ignore_ascii_case("Sec-WebSocket-Accept"));
        let wanted = STANDARD.encode(Sha1::digest(format!("{key}{GUID}")));
        ensure!(
            accept.map(|(_, value)| value.trim()).eq([wanted.as_str()]),
            "expected a WebSocket that answers this key, found another answer"
        );
        Ok(())
    }

    /// The head of the answer to the first request.
    fn head(&mut self) -> Result<String> {
        let mut patient = Patient { stream: &self.stream, deadline: Deadline::after(self.limit) };
        let (mut head, mut byte) = (Vec::new(), [0]);
        while !head.ends_with(b"\r\n\r\n") {
            ensure!(head.len() < LONGEST_HEAD, "expected an answer of HTTP, found a longer one");
            patient.read_exact(&mut byte).context("the answer of HTTP")?;
            head.push(byte[0]);
        }
        Ok(String::from_utf8_lossy(&head).into_owned())
    }

    /// Sends a binary message and receives the next one, which must be binary too.
    ///
    /// # Errors
    /// If the connection breaks, the answer comes too late, is too long, or is a text.
    pub(super) fn ask(&mut self, message: &[u8]) -> Result<&[u8]> {
        self.send(message::BINARY, message)?;
        self.receive()
    }

    /// The next binary message.
    ///
    /// # Errors
    /// As [`WebSocket::ask`].
    pub(super) fn receive(&mut self) -> Result<&[u8]> {
        let mut received = std::mem::take(&mut self.received);
        let mut pongs = Vec::new();
        let mut patient = Patient { stream: &self.stream, deadline: Deadline::after(self.limit) };
        let is_binary = message(&mut patient, &mut received, |ping| {
            pongs.push(ping.to_vec());
            Ok(())
        });
        self.received = received;
        for pong in pongs {
            self.send(message::PONG, &pong)?;
        }
        if is_binary? {
            return Ok(&self.received);
        }
        let text = String::from_utf8_lossy(&self.received);
        let last = text.lines().map(str::trim).rfind(|line| !line.is_empty()).unwrap_or_default();
        bail!(
            "expected actions, found an error of the server: {}",
            last.chars().take(SHOWN).collect::<String>()
        )
    }

    fn send(&mut self, kind: u8, payload: &[u8]) -> Result<()> {
        let mask = [0; 4].map(|_: u8| self.masks.below(256) as u8);
        message::write(kind, payload, mask, &mut self.sent);
        self.stream.write_all(&self.sent).context("the server does not read")
    }
}

/// Reads as long as may be waited.
struct Patient<'a> {
    stream: &'a TcpStream,
    deadline: Deadline,
}

impl Read for Patient<'_> {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        loop {
            self.deadline.slice().map_err(std::io::Error::other)?;
            match (&mut &*self.stream).read(into) {
                Err(e)
                    if matches!(
                        e.kind(),
                        ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted
                    ) => {}
                read => return read,
            }
        }
    }
}
