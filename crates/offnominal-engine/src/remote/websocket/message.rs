//! The messages of a WebSocket: frames, put together.

use anyhow::{Context, Result, bail, ensure};
use std::io::Read;

/// The most bytes of a message.
const LONGEST: usize = 1 << 26;

/// Frames of one message at most.
const MOST_FRAMES: usize = 1 << 16;

/// The most bytes of a frame that is no message: a close, a ping or a pong.
const LONGEST_CONTROL: usize = 125;

const CONTINUATION: u8 = 0;
const TEXT: u8 = 1;
pub(super) const BINARY: u8 = 2;
const CLOSE: u8 = 8;
const PING: u8 = 9;
pub(super) const PONG: u8 = 10;

/// The head of a frame.
struct Head {
    is_last: bool,
    kind: u8,
    length: usize,
}

/// Reads a message; whether it is binary. What a ping holds is handed over.
///
/// # Errors
/// If the connection ends or is closed, or a frame is none of a server.
pub(in crate::remote) fn message(
    stream: &mut impl Read,
    whole: &mut Vec<u8>,
    mut pinged: impl FnMut(&[u8]) -> Result<()>,
) -> Result<bool> {
    whole.clear();
    let mut begun = None;
    for _ in 0..MOST_FRAMES {
        let head = head(stream)?;
        if head.kind >= CLOSE {
            control(&head, stream, &mut pinged)?;
            continue;
        }
        begun = match (begun, head.kind) {
            (None, TEXT | BINARY) => Some(head.kind),
            (Some(kind), CONTINUATION) => Some(kind),
            _ => bail!("expected a message, found a frame of kind {} out of place", head.kind),
        };
        let total = whole.len().saturating_add(head.length);
        ensure!(total <= LONGEST, "expected a message of at most {LONGEST} bytes, found {total}");
        let read = stream.take(head.length as u64).read_to_end(whole).context("a message")?;
        ensure!(read == head.length, "expected {} more bytes of a message, found {read}", head.length);
        if head.is_last {
            return Ok(begun == Some(BINARY));
        }
    }
    bail!("expected a message of at most {MOST_FRAMES} frames, found more")
}

fn head(stream: &mut impl Read) -> Result<Head> {
    let [first, second] = bytes(stream)?;
    ensure!(first & 0x70 == 0, "expected a frame without extensions, found {first:#04x}");
    ensure!(second & 0x80 == 0, "expected a frame of a server, found a masked one");
    let length = match second & 0x7f {
        126 => u64::from(u16::from_be_bytes(bytes(stream)?)),
        127 => u64::from_be_bytes(bytes(stream)?),
        short => u64::from(short),
    };
    let length = usize::try_from(length).unwrap_or(usize::MAX);
    Ok(Head { is_last: first & 0x80 != 0, kind: first & 0xf, length })
}

fn control(head: &Head, stream: &mut impl Read, pinged: &mut impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
    let is_whole = head.is_last && head.length <= LONGEST_CONTROL;
    ensure!(is_whole, "expected a frame of at most {LONGEST_CONTROL} bytes, found {}", head.length);
    let mut content = vec![0; head.length];
    stream.read_exact(&mut content).context("a frame")?;
    match head.kind {
        PING => pinged(&content),
        PONG => Ok(()),
        CLOSE => {
            let (code, reason) = content.split_at(content.len().min(2));
            let code = code.iter().fold(0_u16, |n, &b| n << 8 | u16::from(b));
            let reason: String =
                String::from_utf8_lossy(reason).chars().filter(|c| !c.is_control()).collect();
            bail!("expected a message, found that the server closed the connection: code {code} {reason:?}")
        }
        other => bail!("expected a frame that is known, found kind {other}"),
    }
}

fn bytes<const N: usize>(stream: &mut impl Read) -> Result<[u8; N]> {
    let mut read = [0; N];
    stream.read_exact(&mut read).context("the head of a frame")?;
    Ok(read)
}

/// Writes a frame of a client.
pub(super) fn write(kind: u8, payload: &[u8], mask: [u8; 4], frame: &mut Vec<u8>) {
    frame.clear();
    frame.push(0x80 | kind);
    match payload.len() {
        short @ 0..126 => frame.push(0x80 | short as u8),
        medium @ 126..0x1_0000 => {
            frame.push(0x80 | 126);
            frame.extend((medium as u16).to_be_bytes());
        }
        long => {
            frame.push(0x80 | 127);
            frame.extend((long as u64).to_be_bytes());
        }
    }
    frame.extend(mask);
    frame.extend(payload.iter().zip(mask.iter().cycle()).map(|(byte, mask)| byte ^ mask));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8]) -> Result<(bool, Vec<u8>)> {
        let (mut whole, mut stream) = (vec![], bytes);
        message(&mut stream, &mut whole, |_| Ok(())).map(|is_binary| (is_binary, whole))
    }

    #[test]
    fn frames_are_put_together() {
        assert_eq!(read(b"\x82\x03abc").unwrap(), (true, b"abc".to_vec()));
        assert_eq!(read(b"\x01\x02ab\x89\x01p\x80\x01c").unwrap(), (false, b"abc".to_vec()));
        let long = [&b"\x82\x7e\x01\x00"[..], &[7; 256]].concat();
        assert_eq!(read(&long).unwrap().1.len(), 256);
    }

    #[track_caller]
    fn refused(bytes: &[u8], want: &str) {
        let error = format!("{:#}", read(bytes).unwrap_err());
        assert!(error.contains(want), "{error}");
    }

    #[test]
    fn what_no_server_sends_is_named() {
        refused(b"\x82\x83\0\0\0\0abc", "found a masked one");
        refused(b"\xc2\x00", "expected a frame without extensions");
        refused(b"\x80\x00", "out of place");
        refused(b"\x82\x05abc", "expected 5 more bytes of a message, found 3");
        refused(b"\x82\x7f\x7f\xff\xff\xff\xff\xff\xff\xff", "expected a message of at most");
        refused(b"\x88\x05\x03\xf0bye", "closed the connection: code 1008 \"bye\"");
        refused(b"\x89\x7e\xff\xff", "expected a frame of at most 125 bytes");
        refused(b"", "the head of a frame");
    }

    #[test]
    fn a_frame_of_a_client_is_masked() {
        let mut frame = vec![];
        write(BINARY, b"abc", [1, 2, 3, 4], &mut frame);
        assert_eq!(frame, [0x82, 0x83, 1, 2, 3, 4, b'a' ^ 1, b'b' ^ 2, b'c' ^ 3]);
        write(BINARY, &[0; 70_000], [0; 4], &mut frame);
        assert_eq!((frame[1], frame.len()), (0xff, 70_014));
    }
}
