//! An episode as GIF: one palette for the whole video, ordered dithering, and only the pixels that change.

use crate::palette::Palette;
use anyhow::{Context, Result, ensure};
use gif::{DisposalMethod, Encoder, Repeat};
use offnominal_core::frame::Frame;
use std::borrow::Cow;

/// The index that leaves a pixel as it was; the palette never uses it.
const UNCHANGED: u8 = 255;

/// Amplitude of the dithering: about half the distance between neighbouring entries of a palette.
const DITHER: i32 = 5;

/// A pixel stays as it is while each of its channels is shown within this distance of the truth: what the eye does
/// not see need not be written again.
const TOLERANCE: u8 = 8;

/// A video in the making.
pub struct Video {
    encoder: Encoder<Vec<u8>>,
    palette: Palette,
    shown: Vec<u8>,
    size: (usize, usize),
    delay_centisecs: u16,
}

impl Video {
    /// Begins a video that repeats for ever. The palette is made from samples of what will be shown.
    ///
    /// # Errors
    /// If there is no sample, or its size is none that GIF allows (1 to 65,535 pixels).
    pub fn new(samples: &[Frame], secs_per_frame: f64) -> Result<Video> {
        let first = samples.first().context("a video needs at least one frame to choose its colours from")?;
        let side = |n: usize| {
            u16::try_from(n)
                .ok()
                .filter(|&n| n > 0)
                .with_context(|| format!("expected a video of 1 to 65535 pixels, found {n}"))
        };
        let palette = Palette::of(samples);
        let mut encoder =
            Encoder::new(Vec::new(), side(first.width)?, side(first.height)?, &palette.table())?;
        encoder.set_repeat(Repeat::Infinite)?;
        Ok(Video {
            encoder,
            palette,
            shown: Vec::new(),
            size: (first.width, first.height),
            // Viewers slow videos down whose delay is below two hundredths.
            delay_centisecs: (secs_per_frame * 100.0).round().clamp(2.0, 6000.0) as u16,
        })
    }

    /// Adds a frame.
    ///
    /// # Errors
    /// If its size is not that of the video.
    pub fn push(&mut self, frame: &Frame) -> Result<()> {
        let size = (frame.width, frame.height);
        ensure!(size == self.size, "expected a frame of {:?} pixels, found {size:?}", self.size);
        let indices = self.indices(frame);
        let patch = Patch::between(&self.shown, &indices, frame.width);
        self.encoder.write_frame(&patch.gif_frame(self.delay_centisecs))?;
        self.shown = indices;
        Ok(())
    }

    /// The bytes of the whole video.
    ///
    /// # Errors
    /// None in practice: the video is written to memory.
    pub fn finish(self) -> Result<Vec<u8>> {
        Ok(self.encoder.into_inner()?)
    }

    fn indices(&mut self, frame: &Frame) -> Vec<u8> {
        let (amplitude, tolerance) = if self.palette.is_exact { (0, 0) } else { (DITHER, TOLERANCE) };
        let pixels = frame.rgb.as_chunks().0.iter().enumerate();
        pixels
            .map(|(at, rgb)| match self.shown.get(at) {
                Some(&shown) if self.palette.is_within(tolerance, shown, *rgb) => shown,
                _ => {
                    let shift = amplitude * threshold(at % frame.width, at / frame.width) / 16;
                    self.palette.index(rgb.map(|c| (i32::from(c) + shift).clamp(0, 255) as u8))
                }
            })
            .collect()
    }
}

/// Bayer's 4 × 4 matrix, from −15 to 15.
fn threshold(column: usize, row: usize) -> i32 {
    const BAYER: [[i32; 4]; 4] = [[0, 8, 2, 10], [12, 4, 14, 6], [3, 11, 1, 9], [15, 7, 13, 5]];
    2 * BAYER[row % 4][column % 4] - 15
}

/// The rectangle in which two images differ.
struct Patch {
    left: usize,
    top: usize,
    width: usize,
    indices: Vec<u8>,
}

impl Patch {
    fn between(before: &[u8], after: &[u8], width: usize) -> Patch {
        if before.is_empty() {
            return Patch { left: 0, top: 0, width, indices: after.to_vec() };
        }
        let changed = || (0..after.len()).filter(|&at| before[at] != after[at]);
        let columns = || changed().map(|at| at % width);
        let (left, right) = (columns().min().unwrap_or(0), columns().max().unwrap_or(0));
        let top = changed().next().unwrap_or(0) / width;
        let bottom = changed().next_back().unwrap_or(0) / width;
        let inside = (top..=bottom).flat_map(|row| (left..=right).map(move |column| row * width + column));
        let index = |at: usize| if before[at] == after[at] { UNCHANGED } else { after[at] };
        Patch { left, top, width: right - left + 1, indices: inside.map(index).collect() }
    }

    fn gif_frame(&self, delay: u16) -> gif::Frame<'_> {
        gif::Frame {
            delay,
            dispose: DisposalMethod::Keep,
            transparent: Some(UNCHANGED),
            left: self.left as u16,
            top: self.top as u16,
            width: self.width as u16,
            height: (self.indices.len() / self.width) as u16,
            buffer: Cow::Borrowed(&self.indices),
            ..gif::Frame::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A white square that walks over a gradient (or a flat grey).
    fn walk(t: usize, is_flat: bool) -> Frame {
        let mut frame = Frame::new(40, 30);
        for at in 0..1200 {
            let (column, row) = (at % 40, at / 40);
            let shade = if is_flat { [90; 3] } else { [column as u8 * 4, row as u8 * 6, 120] };
            let is_square = (t..t + 5).contains(&column) && (10..15).contains(&row);
            frame.paint(column, row, if is_square { [255; 3] } else { shade }, 0);
        }
        frame
    }

    fn video(is_flat: bool) -> (Vec<Frame>, Vec<u8>) {
        let frames: Vec<_> = (0..12).map(|t| walk(t, is_flat)).collect();
        let mut video = Video::new(&frames, 0.05).unwrap();
        frames.iter().for_each(|f| video.push(f).unwrap());
        (frames, video.finish().unwrap())
    }

    /// Plays a video as a viewer would: patches are laid over one another.
    fn shown(bytes: &[u8]) -> Vec<(u16, Vec<u8>)> {
        let mut decoder = gif::DecodeOptions::new().read_info(bytes).unwrap();
        let table = decoder.global_palette().unwrap().to_vec();
        let mut screen = vec![0; 3 * usize::from(decoder.width()) * usize::from(decoder.height())];
        let mut all = Vec::new();
        while let Some(patch) = decoder.read_next_frame().unwrap() {
            for (i, &index) in patch.buffer.iter().enumerate().filter(|(_, i)| **i != UNCHANGED) {
                let (width, left) = (usize::from(patch.width), usize::from(patch.left));
                let at = 3 * ((usize::from(patch.top) + i / width) * 40 + left + i % width);
                screen[at..at + 3].copy_from_slice(&table[3 * usize::from(index)..][..3]);
            }
            all.push((patch.delay, screen.clone()));
        }
        all
    }

    #[test]
    fn a_video_of_few_colours_shows_every_frame_exactly() {
        let (frames, bytes) = video(true);
        let expected: Vec<_> = frames.into_iter().map(|f| (5, f.rgb)).collect();
        assert_eq!(shown(&bytes), expected);
    }

    #[test]
    fn a_video_of_many_colours_shows_nearly_the_right_ones() {
        let (frames, bytes) = video(false);
        for ((_, shown), frame) in shown(&bytes).iter().zip(&frames) {
            let error: u32 = shown.iter().zip(&frame.rgb).map(|(a, b)| u32::from(a.abs_diff(*b))).sum();
            assert!(error / (shown.len() as u32) < 6, "mean error {}", error as usize / shown.len());
        }
    }

    #[test]
    fn a_frame_that_changes_nothing_costs_next_to_nothing() {
        let frame = walk(3, false);
        let mut video = Video::new(std::slice::from_ref(&frame), 0.05).unwrap();
        video.push(&frame).unwrap();
        let before = video.encoder.get_ref().len();
        (0..10).for_each(|_| video.push(&frame).unwrap());
        assert!(video.finish().unwrap().len() - before < 400);
    }

    #[test]
    fn errors_say_what_was_expected_and_found() {
        assert!(Video::new(&[], 0.1).is_err());
        let error = Video::new(&[Frame::new(70_000, 1)], 0.1).err().unwrap();
        assert!(error.to_string().contains("70000"), "{error}");
        let mut video = Video::new(&[walk(0, true)], 0.1).unwrap();
        let error = video.push(&Frame::new(2, 2)).unwrap_err();
        assert!(error.to_string().contains("(40, 30)") && error.to_string().contains("(2, 2)"), "{error}");
    }
}
