//! The channels that an anomaly touches in one episode.

use super::{AnomalyError, Channels};
use crate::Rng;
use crate::channel::spans;
use crate::spec::Channel;
use std::ops::Range;

/// The channels of one episode, as positions in the signal. Of [`Channels::One`] it is not known until [`draw`] which
/// one it is; all are candidates before.
///
/// [`draw`]: Chosen::draw
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Chosen {
    positions: Vec<usize>,
    /// The channels of which one is still to be drawn; empty if none is.
    candidates: Vec<Range<usize>>,
}

impl Chosen {
    /// The channels that a recipe asks for; `side` is `observation` or `action`.
    ///
    /// # Errors
    /// If a name or index does not exist.
    pub fn of(
        channels: &Channels,
        env: &str,
        side: &'static str,
        signal: &[Channel],
    ) -> Result<Chosen, AnomalyError> {
        let positions = channels.resolve(env, side, signal)?;
        let candidates = if *channels == Channels::One { spans(signal).collect() } else { Vec::new() };
        Ok(Chosen { positions, candidates })
    }

    /// To be called whenever the anomaly begins: the first time one channel is drawn if one is wanted, and it stays the
    /// same after every pause. Draws nothing otherwise.
    pub fn draw(&mut self, rng: &mut Rng) {
        if !self.candidates.is_empty() {
            let kept = self.candidates.swap_remove(rng.below(self.candidates.len()));
            self.positions.retain(|p| kept.contains(p));
            self.candidates.clear();
        }
    }

    /// The channels.
    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.positions.iter().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(channels: Channels) -> Chosen {
        let signal: Vec<Channel> = ["x", "y", "z"].map(|n| Channel::unbounded(n, "", "m")).into();
        Chosen::of(&channels, "w", "observation", &signal).unwrap()
    }

    #[test]
    fn one_is_drawn_once_and_each_equally_often() {
        let mut counts = [0_i32; 3];
        for seed in 0..3000 {
            let (mut one, mut rng) = (chosen(Channels::One), Rng::new(seed));
            one.draw(&mut rng);
            let first: Vec<usize> = one.iter().collect();
            one.draw(&mut rng);
            assert_eq!(first, one.iter().collect::<Vec<_>>());
            counts[first[0]] += 1;
        }
        // Standard deviation of each count: √(3000 · ⅓ · ⅔) ≈ 26.
        assert!(counts.iter().all(|c| (c - 1000).abs() < 4 * 26), "{counts:?}");
    }

    #[test]
    fn what_is_named_is_not_drawn() {
        let (mut all, mut rng) = (chosen(Channels::All), Rng::new(0));
        all.draw(&mut rng);
        assert_eq!(all.iter().collect::<Vec<_>>(), [0, 1, 2]);
        assert_eq!(rng.bits(), Rng::new(0).bits());
    }
}
