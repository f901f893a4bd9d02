//! The channels that an anomaly touches in one episode.

use super::{AnomalyError, Channels};
use crate::Rng;
use crate::channel::{Channel, spans};
use std::ops::Range;

/// The numbers of a signal that are touched in one episode, as their positions. Of [`Channels::One`] it is not known
/// until [`draw`] which channel it is; all are candidates before.
///
/// [`draw`]: Chosen::draw
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Chosen {
    positions: Vec<usize>,
    /// The channels among which one is to be drawn.
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
        let candidates = if *channels == Channels::One { spans(signal).collect() } else { vec![] };
        Ok(Chosen { positions, candidates })
    }

    /// To be called whenever the anomaly begins: the first time one channel is drawn if one is wanted, and it stays the
    /// same after every pause. Draws nothing otherwise.
    pub fn draw(&mut self, rng: &mut Rng) {
        if self.candidates.is_empty() {
            return;
        }
        let drawn = self.candidates[rng.below(self.candidates.len())].clone();
        self.positions.clear();
        self.positions.extend(drawn);
        self.candidates.clear();
    }

    /// The positions, in no order that matters.
    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.positions.iter().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::channel::Image;

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
    fn an_image_is_drawn_as_a_whole() {
        let image = Image::grey(1, 2, 3);
        let signal = [Channel::unbounded("x", "", "m"), Channel::image("view", "", image)];
        let mut seen = std::collections::BTreeSet::new();
        for seed in 0..20 {
            let mut one = Chosen::of(&Channels::One, "w", "observation", &signal).unwrap();
            one.draw(&mut Rng::new(seed));
            seen.insert(one.iter().collect::<Vec<_>>());
        }
        assert_eq!(seen.into_iter().collect::<Vec<_>>(), [vec![0], vec![1, 2, 3, 4, 5, 6]]);
    }

    #[test]
    fn what_is_named_is_not_drawn() {
        let (mut all, mut rng) = (chosen(Channels::All), Rng::new(0));
        all.draw(&mut rng);
        assert_eq!(all.iter().collect::<Vec<_>>(), [0, 1, 2]);
        assert_eq!(rng.bits(), Rng::new(0).bits());
    }
}
