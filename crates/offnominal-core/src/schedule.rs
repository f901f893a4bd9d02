//! When an anomaly begins and how long it lasts.

use crate::Rng;
use serde::{Deserialize, Serialize};

/// Onset and extent of an anomaly within an episode.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Schedule {
    /// The first anomalous step.
    pub onset: Onset,
    /// What happens after the onset.
    #[serde(default)]
    pub extent: Extent,
}

/// The first anomalous step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Onset {
    /// A fixed step; 0 makes the whole episode anomalous.
    At(u32),
    /// Uniform on {2, …, T − 1}, where T is the length of the nominal twin. An anomalous episode equals its twin
    /// until the onset, so the onset is always reached.
    Random,
}

/// What happens after the onset.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Extent {
    /// The anomaly stays until the episode ends.
    #[default]
    ToEnd,
    /// The anomaly ends after so many steps.
    Window {
        /// Number of anomalous steps.
        steps: u32,
    },
    /// The anomaly comes and goes.
    Intermittent {
        /// Anomalous steps in each period.
        on: u32,
        /// Nominal steps in each period.
        off: u32,
    },
}

impl Schedule {
    /// Anomalous from the first step to the last.
    pub const WHOLE: Schedule = Schedule { onset: Onset::At(0), extent: Extent::ToEnd };

    /// The onset for an episode whose nominal twin has `twin_len` steps.
    pub fn draw_onset(&self, twin_len: usize, rng: &mut Rng) -> u32 {
        match self.onset {
            Onset::At(step) => step,
            Onset::Random if twin_len <= 3 => twin_len.saturating_sub(1) as u32,
            Onset::Random => 2 + rng.below(twin_len - 2) as u32,
        }
    }
}

impl Extent {
    /// Whether the anomaly is active at step `t` if it began at `onset`.
    pub fn is_active(&self, t: u32, onset: u32) -> bool {
        let Some(since) = t.checked_sub(onset) else { return false };
        match *self {
            Extent::ToEnd => true,
            Extent::Window { steps } => since < steps,
            Extent::Intermittent { on, off } => {
                let period = (u64::from(on) + u64::from(off)).max(1);
                u64::from(since) % period < u64::from(on)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(extent: Extent, want: &str) {
        let drawn: String = (0..10).map(|t| if extent.is_active(t, 3) { '#' } else { '.' }).collect();
        assert_eq!(drawn, want);
    }

    #[test]
    fn extents() {
        check(Extent::ToEnd, "...#######");
        check(Extent::Window { steps: 2 }, "...##.....");
        check(Extent::Intermittent { on: 1, off: 2 }, "...#..#..#");
        check(Extent::Intermittent { on: u32::MAX, off: u32::MAX }, "...#######");
    }

    #[test]
    fn a_random_onset_is_always_reached() {
        let schedule = Schedule { onset: Onset::Random, extent: Extent::ToEnd };
        let mut rng = Rng::new(0);
        for len in 1..30 {
            for _ in 0..50 {
                assert!((schedule.draw_onset(len, &mut rng) as usize) < len);
            }
        }
    }
}
