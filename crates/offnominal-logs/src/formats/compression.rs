//! Files that are compressed as a whole: gzip, zstd, lz4.

use anyhow::{Context, Result};
use std::io::{BufRead, BufReader, Read};

/// The bytes of a file, decompressed if its first bytes say that they are compressed.
///
/// # Errors
/// If the file cannot be read.
pub fn open(mut from: impl BufRead + 'static) -> Result<Box<dyn BufRead>> {
    let head = from.fill_buf().context("cannot read")?;
    let is = |magic: &[u8]| head.starts_with(magic);
    Ok(if is(&[0x1f, 0x8b]) {
        buffered(flate2::bufread::MultiGzDecoder::new(from))
    } else if is(&[0x28, 0xb5, 0x2f, 0xfd]) {
        buffered(zstd(from)?)
    } else if is(&[0x04, 0x22, 0x4d, 0x18]) {
        buffered(lz4_flex::frame::FrameDecoder::new(from))
    } else {
        Box::new(from)
    })
}

fn buffered(from: impl Read + 'static) -> Box<dyn BufRead> {
    Box::new(BufReader::with_capacity(1 << 16, from))
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
