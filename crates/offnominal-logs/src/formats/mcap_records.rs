//! The records of MCAP that messages need: schemas, channels and messages, alone or in chunks.
//!
//! No length in the file is trusted, and checksums are compared where there are any. The crate `mcap` 0.26 was tried: it
//! takes the memory that a text says it has, and a record that is longer than its chunk makes it panic.
//! Reference: the MCAP specification, version 0.

use super::{compression, filled};
use anyhow::{Context, Result, bail, ensure};
use flate2::Crc;
use std::io::Read;

/// The first bytes of a file.
pub const MAGIC: &[u8] = b"\x89MCAP0\r\n";

/// Largest record, and largest chunk before and after compression.
const MAX_RECORD: u64 = 256 << 20;

const FOOTER: u8 = 0x02;
const SCHEMA: u8 = 0x03;
const CHANNEL: u8 = 0x04;
const MESSAGE: u8 = 0x05;
const CHUNK: u8 = 0x06;
const DATA_END: u8 = 0x0f;

/// What a record says.
pub enum Record<'a> {
    /// How messages are written.
    Schema {
        /// Its number.
        id: u16,
        /// The type of the messages.
        name: &'a str,
        /// The language of the schema.
        encoding: &'a str,
        /// The schema.
        data: &'a [u8],
    },
    /// Where messages come from.
    Channel {
        /// Its number.
        id: u16,
        /// The number of its schema; 0 for none.
        schema: u16,
        /// Its name.
        topic: &'a str,
        /// How its messages are written.
        encoding: &'a str,
    },
    /// A message.
    Message {
        /// The number of its channel.
        channel: u16,
        /// When it was recorded, in nanoseconds.
        log_time: u64,
        /// What it says.
        data: &'a [u8],
    },
    /// A part that cannot be read; what follows it can, if anything follows.
    Lost {
        /// What it is.
        what: &'static str,
        /// Why it cannot.
        why: String,
    },
    /// A chunk was decompressed to so many bytes.
    Unpacked(u64),
}

/// Hands over each schema, channel and message in the order of the file, up to where it was cut off. What comes after the
/// data, an index, is not read.
///
/// # Errors
/// If it is no such file, it cannot be read, or `take` refuses a record.
pub fn read(mut from: impl Read, mut take: impl FnMut(Record<'_>) -> Result<()>) -> Result<()> {
    let (mut content, mut unpacked, mut crc) = (vec![0; MAGIC.len()], Vec::new(), Crc::new());
    from.read_exact(&mut content).context("expected an MCAP file")?;
    ensure!(content == MAGIC, "expected an MCAP file");
    crc.update(&content);
    let mut at = MAGIC.len() as u64;
    loop {
        let mut header = [0; 9];
        let head = filled(&mut from, &mut header)?;
        let [opcode, len @ ..] = header;
        let len = u64::from_le_bytes(len);
        if head < header.len() || len > MAX_RECORD {
            let found = if head < header.len() { "the file ends" } else { "no record" };
            return take(cut_off(format!("expected a record at byte {at}, found {found}")));
        }
        content.clear();
        // The buffer grows with what comes, not with what is announced.
        let found = from.by_ref().take(len).read_to_end(&mut content).context("cannot read")? as u64;
        match opcode {
            FOOTER if found == len => return Ok(()),
            DATA_END if found == len => {
                let same = Left(&content).u32().and_then(|expected| same_crc("data", expected, crc.sum()));
                return same.or_else(|why| lost("data", &why, &mut take));
            }
            CHUNK => chunk(&content, &mut unpacked, &mut take)?,
            _ if found == len => told(record(opcode, &content), &mut take)?,
            _ => {}
        }
        if found < len {
            let what = format!("the record at byte {at} has {len} bytes, of which the file has {found}");
            return take(cut_off(what));
        }
        crc.update(&header);
        crc.update(&content);
        at += header.len() as u64 + len;
    }
}

fn cut_off<'a>(why: String) -> Record<'a> {
    Record::Lost { what: "the file ended early", why }
}

fn lost(
    what: &'static str,
    why: &anyhow::Error,
    take: &mut impl FnMut(Record<'_>) -> Result<()>,
) -> Result<()> {
    take(Record::Lost { what, why: format!("{why:#}") })
}

/// Hands over what a record says, if it is of use.
fn told(record: Result<Option<Record<'_>>>, take: &mut impl FnMut(Record<'_>) -> Result<()>) -> Result<()> {
    match record {
        Ok(record) => record.map_or(Ok(()), take),
        Err(why) => lost("records", &why, take),
    }
}

/// Hands over the records of a chunk: none if its checksum is another, and those before its end if it was cut off.
fn chunk(
    content: &[u8],
    unpacked: &mut Vec<u8>,
    take: &mut impl FnMut(Record<'_>) -> Result<()>,
) -> Result<()> {
    let (records, why) = match unpack(content, unpacked) {
        Ok(found) => found,
        Err(why) => return lost("chunks", &why, take),
    };
    take(Record::Unpacked(records.len() as u64))?;
    let mut left = Left(records);
    while !left.0.is_empty() {
        let mut next = || -> Result<_> {
            let (opcode, len) = (left.array::<1>()?[0], left.u64()?);
            Ok((opcode, left.take(len)?))
        };
        match next() {
            Ok((opcode, data)) => told(record(opcode, data), take)?,
            Err(_) if why.is_some() => break,
            Err(why) => return lost("chunks", &why, take),
        }
    }
    why.map_or(Ok(()), |why| lost("the end of a chunk", &why, take))
}

/// A checksum of 0 means that there is none.
fn same_crc(what: &str, expected: u32, found: u32) -> Result<()> {
    ensure!(expected == 0 || expected == found, "{what}: expected the CRC {expected:08x}, found {found:08x}");
    Ok(())
}

/// The records of a chunk; with a reason if there are fewer bytes of them than it says.
fn unpack<'a>(content: &'a [u8], unpacked: &'a mut Vec<u8>) -> Result<(&'a [u8], Option<anyhow::Error>)> {
    let mut left = Left(content);
    left.take(16)?;
    let (len, crc, compression) = (left.u64()?, left.u32()?, left.text()?);
    let packed_len = left.u64()?;
    let packed = &left.0[..left.0.len().min(usize::try_from(packed_len).unwrap_or(usize::MAX))];
    ensure!(len <= MAX_RECORD, "expected a chunk of at most {MAX_RECORD} bytes, found {len}");
    let unpack = |from: &mut dyn Read, into: &'a mut Vec<u8>| -> (&'a [u8], Option<anyhow::Error>) {
        into.clear();
        let read = from.take(len + 1).read_to_end(into);
        (into, read.err().map(|why| anyhow::Error::new(why).context("it cannot be decompressed")))
    };
    let (records, why) = match compression {
        "" => (packed, None),
        "zstd" => unpack(&mut compression::zstd(packed)?, unpacked),
        "lz4" => unpack(&mut lz4_flex::frame::FrameDecoder::new(packed), unpacked),
        other => bail!("expected a chunk in zstd or lz4, found {other:?}"),
    };
    if (packed.len() as u64) < packed_len {
        let cut = || anyhow::anyhow!("expected {packed_len} bytes, found {}", packed.len());
        return Ok((records, Some(why.unwrap_or_else(cut))));
    }
    if let Some(why) = why {
        return Err(why);
    }
    ensure!(records.len() as u64 == len, "expected a chunk of {len} bytes, found {}", records.len());
    let mut found = Crc::new();
    found.update(records);
    same_crc("chunk", crc, found.sum())?;
    Ok((records, None))
}

/// What a record says; nothing for kinds that are not needed.
fn record(opcode: u8, data: &[u8]) -> Result<Option<Record<'_>>> {
    let mut left = Left(data);
    Ok(match opcode {
        SCHEMA => {
            let (id, name, encoding) = (left.u16()?, left.text()?, left.text()?);
            Some(Record::Schema { id, name, encoding, data: left.prefixed()? })
        }
        CHANNEL => {
            let (id, schema) = (left.u16()?, left.u16()?);
            Some(Record::Channel { id, schema, topic: left.text()?, encoding: left.text()? })
        }
        MESSAGE => {
            let channel = left.u16()?;
            left.take(4)?;
            let log_time = left.u64()?;
            left.take(8)?;
            Some(Record::Message { channel, log_time, data: left.0 })
        }
        _ => None,
    })
}

/// The bytes of a record that were not read yet.
struct Left<'a>(&'a [u8]);

impl<'a> Left<'a> {
    fn take(&mut self, n: u64) -> Result<&'a [u8]> {
        ensure!(n <= self.0.len() as u64, "record: expected {n} more bytes, found {}", self.0.len());
        let (taken, rest) = self.0.split_at(n as usize);
        self.0 = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        Ok(self.take(N as u64)?.try_into().expect("as many bytes were taken"))
    }

    fn u16(&mut self) -> Result<u16> {
        Ok(u16::from_le_bytes(self.array()?))
    }

    fn u32(&mut self) -> Result<u32> {
        Ok(u32::from_le_bytes(self.array()?))
    }

    fn u64(&mut self) -> Result<u64> {
        Ok(u64::from_le_bytes(self.array()?))
    }

    /// Bytes after their number.
    fn prefixed(&mut self) -> Result<&'a [u8]> {
        let n = self.u32()?;
        self.take(n.into())
    }

    fn text(&mut self) -> Result<&'a str> {
        std::str::from_utf8(self.prefixed()?).context("record: expected a text in UTF-8")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_length_is_not_trusted() {
        let text = [&[1, 0][..], &u32::MAX.to_le_bytes(), b"abc"].concat();
        let error = record(SCHEMA, &text).err().unwrap().to_string();
        assert_eq!(error, "record: expected 4294967295 more bytes, found 3");
        assert!(record(0x0b, &text).unwrap().is_none());
    }
}
