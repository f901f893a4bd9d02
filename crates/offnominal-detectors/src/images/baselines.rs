//! Baselines of images: a clock, and noise. No detector may owe its figures to what these two know.

use offnominal_core::Seed;
use offnominal_core::image_detector::check_videos;
use offnominal_core::prelude::*;
use serde::{Deserialize, Serialize};

/// The entry of [`ImageClock`].
pub const CLOCK: Entry<dyn ImageDetector> = entry!(
    ImageClock as dyn ImageDetector,
    "clock",
    "baseline: steps since the episode began, sees no image",
    exempt: &[(Law::SeesGrossFaults, "it sees no image, on purpose")]
);

/// The entry of [`ImageRandom`].
pub const RANDOM: Entry<dyn ImageDetector> = entry!(
    ImageRandom as dyn ImageDetector,
    "random",
    "baseline: noise that depends on nothing nominal",
    exempt: &[(Law::SeesGrossFaults, "it is noise, on purpose")]
);

/// Counts steps; it has no parameters.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ImageClock {}

/// Hashes what it sees; it has no parameters.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ImageRandom {}

impl ImageDetector for ImageClock {
    fn fit(
        &self,
        train: &[Video],
        _: &[Video],
        _: &mut Rng,
        _: FitProgress<'_>,
    ) -> Result<Box<dyn ImageScorer>, FitError> {
        check_videos(train, 1)?;
        Ok(Box::new(Ticks(0)))
    }
}

#[derive(Clone)]
struct Ticks(u64);

impl ImageScorer for Ticks {
    fn reset(&mut self) {
        self.0 = 0;
    }

    fn score(&mut self, _: FrameTransition<'_>) -> f64 {
        self.0 += 1;
        self.0 as f64
    }
}

impl ImageDetector for ImageRandom {
    fn fit(
        &self,
        train: &[Video],
        _: &[Video],
        rng: &mut Rng,
        _: FitProgress<'_>,
    ) -> Result<Box<dyn ImageScorer>, FitError> {
        check_videos(train, 1)?;
        Ok(Box::new(Dice { seed: Seed(rng.bits()), steps: 0 }))
    }
}

/// Noise that is a function of what was seen, so that an episode gets the same scores in any order.
#[derive(Clone)]
struct Dice {
    seed: Seed,
    steps: u64,
}

impl ImageScorer for Dice {
    fn reset(&mut self) {
        self.steps = 0;
    }

    fn score(&mut self, transition: FrameTransition<'_>) -> f64 {
        self.steps += 1;
        // FNV-1a of the image; its bits are then mixed by the seed tree.
        let mix = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        let hash = transition.next_frame.iter().fold(0xcbf2_9ce4_8422_2325, mix);
        let hash =
            transition.action.iter().fold(hash, |hash, a| hash.rotate_left(7) ^ u64::from(a.to_bits()));
        self.seed.child(self.steps).child(hash).rng().uniform()
    }
}
