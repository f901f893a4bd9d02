//! Requests and answers of HTTP/1.1, as few as a page with a stream of events needs.
//!
//! One request per connection. Its head has at most [`MOST_BYTES`] and comes within [`PATIENCE`], whatever its parts do.
//! A library was weighed: `tiny_http` 0.12 buffers answers of unknown length, so events wait in it.

use std::io::{Error, ErrorKind, Read, Result, Write};
use std::net::{Shutdown, TcpStream};
use std::time::{Duration, Instant};

/// The longest head.
const MOST_BYTES: usize = 8 << 10;

/// The longest body, which nothing here reads.
const MOST_BODY: usize = 1 << 10;

/// For a request, from its first byte to its last.
const PATIENCE: Duration = Duration::from_secs(5);

/// For what comes behind a request that was refused, and its bytes.
const DRAIN: Duration = Duration::from_millis(500);
const MOST_DRAINED: usize = 64 << 10;

/// For a browser that takes nothing.
pub const WRITE_PATIENCE: Duration = Duration::from_secs(10);

/// The head of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// Such as `GET`.
    pub method: String,
    /// Without what is behind the question mark.
    pub path: String,
    query: String,
    /// Names in lower case.
    headers: Vec<(String, String)>,
}

/// What is wrong with a request, as the status and the text of the answer.
pub type Fault = (u16, &'static str);

impl Request {
    /// Reads a head, which ends with an empty line.
    ///
    /// # Errors
    /// If it is not one of HTTP/1.
    pub fn parse(head: &[u8]) -> std::result::Result<Request, Fault> {
        const WRONG: Fault = (400, "expected a request of HTTP/1.1");
        let mut lines = std::str::from_utf8(head).map_err(|_| WRONG)?.trim_end_matches("\r\n").split("\r\n");
        let mut words = lines.next().unwrap_or_default().split(' ');
        let (Some(method), Some(target), Some(version), None) =
            (words.next(), words.next(), words.next(), words.next())
        else {
            return Err(WRONG);
        };
        let is_sound = matches!(version, "HTTP/1.1" | "HTTP/1.0") && target.starts_with('/');
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let headers = lines.map(header).collect::<Option<Vec<_>>>().ok_or(WRONG)?;
        let request = Request { method: method.into(), path: path.into(), query: query.into(), headers };
        // Two values of one of these would mean different things to different readers.
        let is_clear =
            ["host", "content-length", "origin", "authorization"].iter().all(|name| request.count(name) <= 1);
        if is_sound && is_clear { Ok(request) } else { Err(WRONG) }
    }

    /// The value of a header, whose name is in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(found, _)| found == name).map(|(_, value)| value.as_str())
    }

    /// The value of a field of the query, without percent signs.
    pub fn query(&self, name: &str) -> Option<String> {
        let field =
            |field: &str| field.split_once('=').filter(|(found, _)| *found == name).map(|(_, v)| decoded(v));
        self.query.split('&').find_map(field)
    }

    fn count(&self, name: &str) -> usize {
        self.headers.iter().filter(|(found, _)| found == name).count()
    }

    /// Bytes of the body.
    ///
    /// # Errors
    /// If that is not said, or there are too many.
    pub fn body(&self) -> std::result::Result<usize, Fault> {
        if self.header("transfer-encoding").is_some() {
            return Err((411, "expected a Content-Length"));
        }
        let len = self.header("content-length").map_or(Ok(0), str::parse);
        match len {
            Ok(len) if len <= MOST_BODY => Ok(len),
            Ok(_) => Err((413, "expected at most 1024 bytes")),
            Err(_) => Err((400, "expected a number as Content-Length")),
        }
    }
}

fn header(line: &str) -> Option<(String, String)> {
    let (name, value) = line.split_once(':')?;
    let is_name = !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_".contains(&b));
    let is_value = !value.bytes().any(|b| b.is_ascii_control() && b != b'\t');
    (is_name && is_value).then(|| (name.to_ascii_lowercase(), value.trim().to_string()))
}

fn decoded(text: &str) -> String {
    let (mut bytes, mut rest) = (Vec::new(), text.as_bytes());
    while let [first, after @ ..] = rest {
        let hex = after.get(..2).filter(|_| *first == b'%').and_then(|two| std::str::from_utf8(two).ok());
        let code = hex.and_then(|two| u8::from_str_radix(two, 16).ok());
        bytes.push(code.unwrap_or(*first));
        rest = if code.is_some() { &after[2..] } else { after };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Reads a request; none if nothing came, or too late.
///
/// # Errors
/// If it is too long or unsound.
pub fn read(from: &mut TcpStream) -> std::result::Result<Option<Request>, Fault> {
    let (until, mut bytes) = (Instant::now() + PATIENCE, Vec::new());
    let end = loop {
        if let Some(at) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            break at + 4;
        }
        if bytes.len() >= MOST_BYTES {
            return Err((431, "expected a head of at most 8192 bytes"));
        }
        if !matches!(more(from, until, &mut bytes), Ok(true)) {
            return Ok(None);
        }
    };
    let request = Request::parse(&bytes[..end])?;
    let len = request.body()?;
    // A connection that is closed before all was read takes the answer with it.
    while bytes.len() < end + len {
        if !matches!(more(from, until, &mut bytes), Ok(true)) {
            return Ok(None);
        }
    }
    Ok(Some(request))
}

/// Reads some bytes; false at the end.
fn more(from: &mut TcpStream, until: Instant, bytes: &mut Vec<u8>) -> Result<bool> {
    let left = until.saturating_duration_since(Instant::now());
    if left.is_zero() {
        return Err(Error::from(ErrorKind::TimedOut));
    }
    from.set_read_timeout(Some(left))?;
    let mut some = [0; 1024];
    let n = from.read(&mut some)?;
    bytes.extend_from_slice(&some[..n]);
    Ok(n > 0)
}

/// Takes what is still coming of a request that was refused, for a moment: a connection that is closed before all was read
/// takes the answer with it.
pub fn drain(from: &mut TcpStream) {
    let (until, mut bytes) = (Instant::now() + DRAIN, Vec::new());
    while bytes.len() < MOST_DRAINED && matches!(more(from, until, &mut bytes), Ok(true)) {}
}

/// Answers, and ends the connection.
///
/// # Errors
/// If nobody takes it.
pub fn answer(to: &mut TcpStream, status: u16, kind: &str, more: &str, body: &[u8]) -> Result<()> {
    let head = format!("{}Content-Length: {}\r\n{more}\r\n", head(status, kind), body.len());
    to.write_all(&[head.as_bytes(), body].concat())?;
    to.shutdown(Shutdown::Write)
}

/// The head of an answer, but for its end.
pub fn head(status: u16, kind: &str) -> String {
    let reason = match status {
        200 => "OK",
        202 => "Accepted",
        400 => "Bad Request",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        409 => "Conflict",
        411 => "Length Required",
        413 => "Content Too Large",
        421 => "Misdirected Request",
        431 => "Request Header Fields Too Large",
        _ => "Service Unavailable",
    };
    format!(
        "HTTP/1.1 {status} {reason}\r\nContent-Type: {kind}\r\nConnection: close\r\nCache-Control: no-store\r\n\
         X-Content-Type-Options: nosniff\r\nReferrer-Policy: no-referrer\r\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_is_read_strictly() {
        let parse = |head: &str| Request::parse(format!("{head}\r\n\r\n").as_bytes());
        let request = parse("GET /a?x=1&token=a%20b%zz HTTP/1.1\r\nHost: h \r\nX-Y: 1").unwrap();
        assert_eq!((request.path.as_str(), request.header("host")), ("/a", Some("h")));
        assert_eq!(request.query("token").unwrap(), "a b%zz");
        for wrong in [
            "GET / HTTP/2",
            "GET /",
            "GET  / HTTP/1.1",
            "GET http://a/ HTTP/1.1",
            "GET / HTTP/1.1\r\nno colon",
            "GET / HTTP/1.1\r\nHost: a\r\nHost: b",
            "GET / HTTP/1.1\r\n folded: a",
            "GET / HTTP/1.1\r\na: b\nc: d",
        ] {
            assert!(parse(wrong).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn a_body_has_a_length_that_is_small() {
        let body = |more: &str| {
            Request::parse(format!("POST / HTTP/1.1\r\n{more}\r\n\r\n").as_bytes()).unwrap().body()
        };
        assert_eq!(body("Content-Length: 7"), Ok(7));
        let status = |more| body(more).unwrap_err().0;
        assert_eq!([status("Transfer-Encoding: chunked"), status("Content-Length: 9999")], [411, 413]);
        assert_eq!(status("Content-Length: -1"), 400);
    }
}
