//! One zstd frame after the other, as the library of zstd reads them.

use anyhow::{Context, Result};
use ruzstd::decoding::StreamingDecoder;
use std::io::{BufRead, Error, Read};

type Frame<R> = StreamingDecoder<R, ruzstd::decoding::FrameDecoder>;

/// The contents of all frames, one after the other.
pub struct Frames<R: BufRead>(Option<Frame<R>>);

impl<R: BufRead> Frames<R> {
    /// Begins with the first frame.
    ///
    /// # Errors
    /// If there is none.
    pub fn new(from: R) -> Result<Frames<R>> {
        Ok(Frames(Some(StreamingDecoder::new(from).context("expected what zstd has compressed")?)))
    }
}

impl<R: BufRead> Read for Frames<R> {
    fn read(&mut self, to: &mut [u8]) -> Result<usize, Error> {
        while let Some(frame) = &mut self.0 {
            let n = frame.read(to)?;
            if n > 0 || to.is_empty() {
                return Ok(n);
            }
            let mut from = self.0.take().map(Frame::into_inner).expect("it was there");
            if !from.fill_buf()?.is_empty() {
                self.0 = Some(StreamingDecoder::new(from).map_err(Error::other)?);
            }
        }
        Ok(0)
    }
}
