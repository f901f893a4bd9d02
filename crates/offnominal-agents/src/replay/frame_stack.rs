//! The images of stored transitions: bytes, each kept once.
//!
//! Of a stack of images only the newest is new from step to step, and what is read next is what will be read then. So
//! a transition holds references, and an image that the last transition had already is not stored again: 7 kB per
//! step of 84 × 84 pixels instead of the 226 kB that two stacks of floats take. Images are in whole grey levels.

use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;
use offnominal_core::spec::Image;
use std::collections::HashMap;
use std::io::{Read, Write};
use std::sync::Arc;

/// One image.
type Shot = Arc<[u8]>;

/// The images of a ring of transitions.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct FrameStack {
    frames: usize,
    len: usize,
    /// Of each transition the stack that was read, then the one that was read next.
    rows: Vec<Box<[Shot]>>,
    /// The images of the last transition.
    last: Vec<Shot>,
    /// An image on its way in.
    bytes: Vec<u8>,
}

impl FrameStack {
    pub(super) fn new(image: Image) -> FrameStack {
        let (frames, len) = (image.frames, image.frame_len());
        FrameStack { frames, len, rows: vec![], last: vec![], bytes: vec![0; len] }
    }

    /// Stores two stacks as those of a transition.
    pub(super) fn put(&mut self, row: usize, obs: &[f32], next_obs: &[f32]) {
        let mut shots = Vec::with_capacity(2 * self.frames);
        for frame in obs.chunks_exact(self.len).chain(next_obs.chunks_exact(self.len)) {
            let shot = self.shot(frame, &shots);
            shots.push(shot);
        }
        self.last.clone_from(&shots);
        match self.rows.get_mut(row) {
            Some(old) => *old = shots.into(),
            None => self.rows.push(shots.into()),
        }
    }

    /// The stored image that looks like that, or a new one.
    fn shot(&mut self, frame: &[f32], near: &[Shot]) -> Shot {
        self.bytes.iter_mut().zip(frame).for_each(|(byte, &v)| *byte = v as u8);
        let known = near.iter().chain(&self.last).rev().find(|shot| shot[..] == self.bytes[..]);
        known.cloned().unwrap_or_else(|| self.bytes.as_slice().into())
    }

    /// Writes the stacks of a transition.
    pub(super) fn get(&self, row: usize, obs: &mut [f32], next_obs: &mut [f32]) {
        let frames = obs.chunks_exact_mut(self.len).chain(next_obs.chunks_exact_mut(self.len));
        for (out, shot) in frames.zip(&self.rows[row]) {
            out.iter_mut().zip(&shot[..]).for_each(|(out, &byte)| *out = f32::from(byte));
        }
    }

    /// Numbers of the images of each transition and of the last one, and all images, compressed.
    pub(super) fn pack(&self) -> (Vec<f32>, Vec<u8>) {
        let (mut numbers, mut known) = (Vec::new(), HashMap::new());
        let mut out = ZlibEncoder::new(Vec::new(), Compression::fast());
        for shot in self.rows.iter().flatten().chain(&self.last) {
            let next = known.len();
            let number = *known.entry(shot.as_ptr()).or_insert_with(|| {
                out.write_all(shot).expect("memory takes everything");
                next
            });
            numbers.push(number as f32);
        }
        (numbers, out.finish().expect("memory takes everything"))
    }

    /// What was packed; nothing if it does not fit the images.
    pub(super) fn unpacked(self, numbers: &[f32], packed: &[u8]) -> Option<FrameStack> {
        let most = numbers.iter().fold(0.0_f32, |most, &n| most.max(n)) as usize;
        let mut bytes = Vec::new();
        // One byte more than there may be, so that too many are noticed.
        let limit = (most + 1) * self.len + 1;
        ZlibDecoder::new(packed).take(limit as u64).read_to_end(&mut bytes).ok()?;
        let shots: Vec<Shot> = bytes.chunks_exact(self.len).map(Shot::from).collect();
        let all: Option<Vec<Shot>> = numbers.iter().map(|&n| shots.get(n as usize).cloned()).collect();
        let (all, width) = (all?, 2 * self.frames);
        let whole = bytes.len() == (most + 1) * self.len && all.len() % width == 0 && all.len() >= width;
        let (rows, last) = whole.then(|| all.split_at(all.len() - width))?;
        let rows = rows.chunks_exact(width).map(Box::from).collect();
        Some(FrameStack { rows, last: last.to_vec(), ..self })
    }

    /// Number of transitions.
    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const IMAGE: Image = Image::grey(3, 2, 2);

    /// The stack of three images that ends at a time.
    fn stack(t: usize) -> Vec<f32> {
        (t..t + 3).flat_map(|t| [t, t + 1, 0, 7].map(|v| v as f32)).collect()
    }

    fn frame_stack(steps: usize, capacity: usize) -> FrameStack {
        let mut frame_stack = FrameStack::new(IMAGE);
        (0..steps).for_each(|t| frame_stack.put(t % capacity, &stack(t), &stack(t + 1)));
        frame_stack
    }

    fn read(frame_stack: &FrameStack, row: usize) -> (Vec<f32>, Vec<f32>) {
        let (mut obs, mut next) = (vec![0.0; 12], vec![0.0; 12]);
        frame_stack.get(row, &mut obs, &mut next);
        (obs, next)
    }

    #[test]
    fn what_goes_in_comes_out_and_each_image_is_kept_once() {
        let frame_stack = frame_stack(9, 5);
        for (row, t) in [(0, 5), (3, 8), (4, 4)] {
            assert_eq!(read(&frame_stack, row), (stack(t), stack(t + 1)), "row {row}");
        }
        let shots: std::collections::HashSet<_> =
            frame_stack.rows.iter().flatten().map(|s| s.as_ptr()).collect();
        assert_eq!(shots.len(), 5 + 3, "five newest images and the three before the first of them");
    }

    #[test]
    fn what_was_packed_is_the_same_and_shares_its_images() {
        let frame_stack = frame_stack(9, 5);
        let (numbers, packed) = frame_stack.pack();
        let again = FrameStack::new(IMAGE).unpacked(&numbers, &packed).unwrap();
        assert!(
            again.rows == frame_stack.rows
                && again.last == frame_stack.last
                && again.pack() == frame_stack.pack()
        );
        assert_eq!(again.len(), 5);
        for (numbers, packed) in [(&numbers[1..], &packed[..]), (&numbers, &packed[1..]), (&[][..], &packed)]
        {
            assert!(FrameStack::new(IMAGE).unpacked(numbers, packed).is_none());
        }
        let large: Vec<f32> = numbers.iter().map(|n| n + 1.0).collect();
        assert!(FrameStack::new(IMAGE).unpacked(&large, &packed).is_none());
    }
}
