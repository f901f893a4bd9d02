//! What an observation goes through before the first layer.

use super::NetworkError;
use super::design::{Encoding, Input, Normalised, require};
use crate::normaliser::Normalisation;

/// Turns observations into what the first layer reads.
#[derive(Debug, Clone)]
pub(super) struct Encoder {
    normalised: Normalised,
    map: Option<Normalisation>,
    clip: Option<f32>,
    encoding: Encoding,
    frame: Vec<f32>,
    /// The last frames, the oldest first.
    frames: Vec<f32>,
    /// What the first layer reads.
    seen: Vec<f32>,
}

impl Encoder {
    /// The encoder that is described, with its statistics.
    pub(super) fn new(input: &Input, map: Option<&Normalisation>) -> Result<Encoder, NetworkError> {
        let width = input.width * if input.normalised == Normalised::Stack { input.stack } else { 1 };
        let needs = input.normalised != Normalised::No;
        require(needs == map.is_some(), "statistics of observations", needs, map.is_some())?;
        if let Some(map) = map {
            let found = [map.mean.len(), map.scale.len()];
            require(found == [width; 2], "statistics of observations", width, found[0])?;
            let is_sound =
                map.mean.iter().chain(&map.scale).all(|x| x.is_finite()) && !map.scale.contains(&0.0);
            require(is_sound, "statistics of observations", "finite numbers, and no scale of 0", "others")?;
        }
        let is_plain = input.stack == 1 || !matches!(input.encoding, Encoding::OneHot(_));
        require(is_plain, "stacked frames", "numbers or images", "integers")?;
        let outputs = input.outputs().unwrap_or(0);
        Ok(Encoder {
            normalised: input.normalised,
            map: map.cloned(),
            clip: input.clip,
            encoding: input.encoding.clone(),
            frame: vec![0.0; input.width],
            frames: vec![0.0; input.width * input.stack],
            seen: vec![0.0; outputs],
        })
    }

    /// Forgets the frames of the episode before.
    pub(super) fn reset(&mut self) {
        self.frames.fill(0.0);
    }

    /// What the first layer reads of an observation.
    pub(super) fn see(&mut self, obs: &[f32]) -> &[f32] {
        self.frame.copy_from_slice(obs);
        if self.normalised == Normalised::Frames {
            normalise(&mut self.frame, self.map.as_ref(), self.clip);
        }
        let n = self.frame.len();
        self.frames.copy_within(n.., 0);
        let newest = self.frames.len() - n;
        self.frames[newest..].copy_from_slice(&self.frame);
        self.encode();
        if self.normalised == Normalised::Stack {
            normalise(&mut self.seen, self.map.as_ref(), self.clip);
        }
        &self.seen
    }

    fn encode(&mut self) {
        match &self.encoding {
            Encoding::Numbers => self.seen.copy_from_slice(&self.frames),
            Encoding::Grey => {
                self.seen.iter_mut().zip(&self.frames).for_each(|(to, level)| *to = level / 255.0);
            }
            Encoding::OneHot(sizes) => one_hot(sizes, &self.frame, &mut self.seen),
        }
    }
}

/// A 1 for each integer at its place among zeros; what is not a number stays none.
fn one_hot(sizes: &[u32], integers: &[f32], to: &mut [f32]) {
    to.fill(0.0);
    let mut begin = 0;
    for (&size, &x) in sizes.iter().zip(integers) {
        let at = begin + x.round().clamp(0.0, (size - 1) as f32) as usize;
        to[at] = if x.is_nan() { x } else { 1.0 };
        begin += size as usize;
    }
}

fn normalise(row: &mut [f32], map: Option<&Normalisation>, clip: Option<f32>) {
    let Some(map) = map else { return };
    let limit = clip.unwrap_or(f32::INFINITY);
    for ((x, mean), scale) in row.iter_mut().zip(&map.mean).zip(&map.scale) {
        *x = ((*x - mean) / scale).clamp(-limit, limit);
    }
}
