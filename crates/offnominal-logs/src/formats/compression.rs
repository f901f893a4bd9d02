//! What is compressed: whole files in gzip, zstd or lz4, and single messages in zstd.

use crate::record::Sink;
use anyhow::{Context, Result, ensure};
use offnominal_topics::budget::Size;
use offnominal_topics::record::Charge;
use std::borrow::Cow;
use std::io::{self, BufRead, BufReader, Read};

/// Bytes that are decompressed in the time that one entry of a row takes.
pub const BYTES_OF_WORK: u64 = 64;

/// Bytes that any input may be decompressed to, and those that each of its bytes adds.
const ANY_BYTES: u64 = 4 << 30;
const TIMES: u64 = 4096;
/// Longest message.
const MAX_MESSAGE: u64 = 64 << 20;

const ZSTD: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd];

/// The bytes of a file, decompressed if its first bytes say that they are compressed; its own bytes are counted.
///
/// # Errors
/// If the file cannot be read.
pub fn open(from: impl BufRead + 'static, size: &Size) -> Result<Box<dyn BufRead>> {
    let mut from = Counted { from, size: size.clone() };
    let head = from.fill_buf().context("cannot read")?;
    let is = |magic: &[u8]| head.starts_with(magic);
    Ok(if is(&[0x1f, 0x8b]) {
        unpacked(flate2::bufread::MultiGzDecoder::new(from), size)
    } else if is(ZSTD) {
        unpacked(zstd(from)?, size)
    } else if is(&[0x04, 0x22, 0x4d, 0x18]) {
        unpacked(lz4_flex::frame::FrameDecoder::new(from), size)
    } else {
        Box::new(from)
    })
}

/// Whether the first bytes are those of a file that is compressed as a whole.
pub fn is_compressed(head: &[u8]) -> bool {
    [&[0x1f, 0x8b][..], ZSTD, &[0x04, 0x22, 0x4d, 0x18]].iter().any(|magic| head.starts_with(magic))
}

fn unpacked(from: impl Read + 'static, size: &Size) -> Box<dyn BufRead> {
    Box::new(BufReader::with_capacity(1 << 16, Unpacked { from, size: size.clone(), n: 0 }))
}

/// A message, which rosbag2 may have compressed alone: no message in CDR begins as those do.
///
/// # Errors
/// If it cannot be decompressed, or is too long.
pub fn message<'d>(data: &'d [u8], sink: &mut dyn Sink) -> Result<Cow<'d, [u8]>> {
    if !data.starts_with(ZSTD) {
        return Ok(data.into());
    }
    let mut found = Vec::new();
    zstd(data)?.take(MAX_MESSAGE + 1).read_to_end(&mut found).context("it cannot be decompressed")?;
    ensure!(found.len() as u64 <= MAX_MESSAGE, "expected at most {MAX_MESSAGE} bytes, found more");
    sink.charge(Charge::Work(found.len() as u64 / BYTES_OF_WORK))?;
    Ok(found.into())
}

/// Counts the bytes that are read.
struct Counted<R> {
    from: R,
    size: Size,
}

impl<R: BufRead> Read for Counted<R> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let n = self.from.read(to)?;
        self.size.add(n as u64);
        Ok(n)
    }
}

impl<R: BufRead> BufRead for Counted<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.from.fill_buf()
    }

    fn consume(&mut self, n: usize) {
        self.size.add(n as u64);
        self.from.consume(n);
    }
}

/// Compares what was decompressed with the bytes that it came from.
struct Unpacked<R> {
    from: R,
    size: Size,
    n: u64,
}

impl<R: Read> Read for Unpacked<R> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let n = self.from.read(to)?;
        self.n += n as u64;
        let packed = self.size.bytes();
        if self.n > ANY_BYTES && self.n - ANY_BYTES > packed.saturating_mul(TIMES) {
            let what =
                format!("expected at most {ANY_BYTES} bytes out of {packed} compressed ones, found more");
            return Err(io::Error::new(io::ErrorKind::InvalidData, what));
        }
        Ok(n)
    }
}

/// What zstd has compressed: by its own library, which is C.
#[cfg(not(target_family = "wasm"))]
pub fn zstd(from: impl BufRead) -> Result<impl Read> {
    Ok(zstd::stream::read::Decoder::with_buffer(from)?)
}

/// What zstd has compressed: without C, which a browser's compiler would have to translate.
#[cfg(target_family = "wasm")]
pub fn zstd(from: impl BufRead) -> Result<impl Read> {
    super::zstd_frames::Frames::new(from)
}
