//! The beginning of an episode as the reference of its channels.
//!
//! y_t = x_t − mean of x_1, …, x_min(t, k), for the channels that are compared with it; the others stay as they are.
//!
//! Some channels differ more from one recording to the next than they move within one: a temperature that follows the hour,
//! the trim of an aircraft, a goal that each episode has for itself. Against the nominal mean such a channel hides small
//! faults, and after a slow benign change it alarms in every recording. Against its own beginning it does neither. k is a
//! fifth of the median length of the nominal episodes, within 5 and 200: a fault in the first k steps moves the reference too.
//! A number that was not read is none of the k. Fewer than five recordings tell nothing of offsets and drifts: there are none.

use offnominal_core::archive::{ArchiveError, Reader, Writer};
use offnominal_core::detector::Signals;
use serde::{Deserialize, Serialize};

/// A beginning is one step in so many of a nominal episode.
const PART: usize = 5;
/// The fewest and the most steps of a beginning.
const STEPS: (usize, usize) = (5, 200);
/// The fewest recordings that tell how much a channel differs between them.
const RECORDINGS: usize = 5;
/// The least correlation of the means of neighbouring recordings that is a drift.
const FOLLOWS: f64 = 0.5;

/// What channels are compared with, in words.
pub(crate) const NOMINAL: &str = "the nominal mean";
pub(crate) const BEGINNING: &str = "the beginning of the episode";

/// What channels are compared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reference {
    /// All with their nominal mean.
    Nominal,
    /// Those that differ more between recordings than within one, with the beginning of the episode.
    Offsets,
    /// All with the beginning of the episode.
    Beginning,
}

/// What recordings, in the order in which they were made, tell about a channel.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Between {
    /// Whether the means of recordings vary more than the steps within one.
    is_offset: bool,
    /// Whether such means follow one another as well: the next one is like the last.
    is_drift: bool,
}

/// Which channels are compared with the beginning of the episode, and how long that is.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Beginning {
    /// Of each channel.
    own: Vec<bool>,
    steps: usize,
}

/// What was seen of the beginning of an episode.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Begun {
    /// Steps of each channel; what was not read is none.
    n: Vec<usize>,
    mean: Vec<f64>,
}

impl Beginning {
    /// Of episodes whose rows of `d` numbers are told one after the other.
    pub fn fit(
        reference: Reference,
        train: &[Signals<'_>],
        d: usize,
        rows: impl Fn(&Signals<'_>, &mut dyn FnMut(&[f64])),
    ) -> Beginning {
        let own = match reference {
            Reference::Nominal => vec![false; d],
            Reference::Beginning => vec![true; d],
            Reference::Offsets => between(train, d, rows).iter().map(|c| c.is_offset).collect(),
        };
        Beginning { own, steps: steps(train) }
    }

    /// For channels that drift from one recording to the next, as a temperature does; the episodes are in the order in which
    /// they were made.
    pub fn of_drifts(
        train: &[Signals<'_>],
        d: usize,
        rows: impl Fn(&Signals<'_>, &mut dyn FnMut(&[f64])),
    ) -> Beginning {
        let own = between(train, d, rows).iter().map(|c| c.is_drift).collect();
        Beginning { own, steps: steps(train) }
    }

    /// How many steps it is.
    pub fn steps(&self) -> usize {
        self.steps
    }

    /// Whether any channel is compared with it.
    pub fn is_used(&self) -> bool {
        self.own.contains(&true)
    }

    /// The channels that are compared with it.
    pub fn own(&self) -> impl Iterator<Item = usize> {
        self.own.iter().enumerate().filter(|(_, own)| **own).map(|(j, _)| j)
    }

    /// What a channel is compared with, in words.
    pub fn against(&self, channel: Option<usize>) -> &'static str {
        if channel.and_then(|j| self.own.get(j)) == Some(&true) { BEGINNING } else { NOMINAL }
    }

    /// Before an episode.
    pub fn begun(&self) -> Begun {
        Begun { n: vec![0; self.own.len()], mean: vec![0.0; self.own.len()] }
    }

    /// Subtracts the beginning from a row, whose first numbers may be missing: these are no part of the beginning.
    pub fn apply(&self, begun: &mut Begun, row: &mut [f64], missing: &[bool]) {
        let Begun { n, mean } = begun;
        for j in self.own() {
            if n[j] < self.steps && !missing.get(j).is_some_and(|missing| *missing) {
                n[j] += 1;
                mean[j] += (row[j] - mean[j]) / n[j] as f64;
            }
            row[j] -= mean[j];
        }
    }

    /// Writes it.
    pub fn save(&self, to: &mut Writer<'_>) {
        let own: Vec<u64> = self.own.iter().map(|own| u64::from(*own)).collect();
        to.put("own", &own);
        to.put("steps", &[self.steps as u64]);
    }

    /// Reads that of `d` channels.
    pub fn load(from: &Reader<'_>, d: usize) -> Result<Beginning, ArchiveError> {
        let own = from.exactly::<u64>("own", d)?;
        from.require(own.iter().all(|own| *own <= 1), "own", "zeros and ones", "others")?;
        let steps: u64 = from.one("steps")?;
        let is_sound = (STEPS.0 as u64..=STEPS.1 as u64).contains(&steps);
        from.require(is_sound, "steps", format_args!("{} to {}", STEPS.0, STEPS.1), steps)?;
        Ok(Beginning { own: own.iter().map(|own| *own == 1).collect(), steps: steps as usize })
    }
}

impl Begun {
    /// The next episode.
    pub fn reset(&mut self) {
        self.n.fill(0);
        self.mean.fill(0.0);
    }

    /// What is subtracted from each channel at present.
    pub fn mean(&self) -> &[f64] {
        &self.mean
    }
}

/// Steps of a beginning.
fn steps(train: &[Signals<'_>]) -> usize {
    let mut lengths: Vec<usize> = train.iter().map(Signals::len).filter(|n| *n > 0).collect();
    lengths.sort_unstable();
    let median = lengths.get(lengths.len() / 2).copied().unwrap_or_default();
    (median / PART).clamp(STEPS.0, STEPS.1)
}

/// What the recordings tell about each channel.
fn between(
    train: &[Signals<'_>],
    d: usize,
    rows: impl Fn(&Signals<'_>, &mut dyn FnMut(&[f64])),
) -> Vec<Between> {
    let whole: Vec<&Signals<'_>> = train.iter().filter(|e| !e.is_empty()).collect();
    if whole.len() < RECORDINGS {
        return vec![Between { is_offset: false, is_drift: false }; d];
    }
    let (mut means, mut within) = (vec![Vec::with_capacity(whole.len()); d], vec![0.0; d]);
    for episode in &whole {
        let (n, mut sums, mut squares) = (episode.len() as f64, vec![0.0; d], vec![0.0; d]);
        rows(episode, &mut |row| {
            for ((sum, square), x) in sums.iter_mut().zip(&mut squares).zip(row) {
                *sum += x;
                *square += x * x;
            }
        });
        for (j, means) in means.iter_mut().enumerate() {
            let mean = sums[j] / n;
            within[j] += (squares[j] / n - mean * mean).max(0.0);
            means.push(mean);
        }
    }
    let n = whole.len() as f64;
    means.iter().zip(within).map(|(means, within)| of_means(means, within / n)).collect()
}

/// Of the means of recordings and the variance within one.
fn of_means(means: &[f64], within: f64) -> Between {
    let n = means.len() as f64;
    let mean = means.iter().sum::<f64>() / n;
    let squares = means.iter().map(|m| (m - mean).powi(2)).sum::<f64>();
    let follow = means.windows(2).map(|m| (m[0] - mean) * (m[1] - mean)).sum::<f64>();
    let is_offset = squares / (n - 1.0) > within;
    // Of independent means the correlation of neighbours is rarely beyond two of its deviations, 1/√n.
    let least = FOLLOWS.max(2.0 / n.sqrt());
    Between { is_offset, is_drift: is_offset && follow > least * squares }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows as they are observed.
    fn plain(episode: &Signals<'_>, tell: &mut dyn FnMut(&[f64])) {
        for step in episode.transitions() {
            let row: Vec<f64> = step.next_obs.iter().map(|v| f64::from(*v)).collect();
            tell(&row);
        }
    }

    /// Six recordings of two channels: the first has an offset of its own in each, the second moves within.
    fn recordings() -> Vec<Vec<f32>> {
        (0..6_u8).map(|i| (0..51_u8).flat_map(|t| [f32::from(i), f32::from(t % 2)]).collect()).collect()
    }

    #[test]
    fn channels_that_differ_between_recordings_are_compared_with_their_beginning() {
        let all = recordings();
        let train: Vec<_> = all.iter().map(|o| Signals::new(o, &[], 2, 0)).collect();
        let of = |reference, n: usize| Beginning::fit(reference, &train[..n], 2, plain);
        assert_eq!(of(Reference::Offsets, 6), Beginning { own: vec![true, false], steps: 10 });
        assert_eq!(of(Reference::Offsets, 4).own, [false, false], "too few recordings tell nothing");
        assert_eq!(of(Reference::Nominal, 6).own, [false, false]);
        assert_eq!(of(Reference::Beginning, 6).own, [true, true]);
    }

    #[test]
    fn means_that_follow_one_another_drift_and_those_of_goals_do_not() {
        let slow: Vec<f64> = (0..40).map(f64::from).collect();
        let goals: Vec<f64> = (0..40).map(|i| f64::from(i * 17 % 40)).collect();
        assert_eq!(of_means(&slow, 1.0), Between { is_offset: true, is_drift: true });
        assert_eq!(of_means(&goals, 1.0), Between { is_offset: true, is_drift: false });
        assert_eq!(of_means(&slow, 1e3), Between { is_offset: false, is_drift: false });
    }

    #[test]
    fn the_mean_of_the_first_steps_is_subtracted_and_stays() {
        let beginning = Beginning { own: vec![true, false], steps: 5 };
        let mut begun = beginning.begun();
        let mut rows = [[1.0, 7.0], [3.0, 7.0], [2.0, 7.0], [2.0, 7.0], [2.0, 7.0], [9.0, 7.0]];
        rows.iter_mut().for_each(|row| beginning.apply(&mut begun, row, &[]));
        assert_eq!(rows[0], [0.0, 7.0]);
        assert_eq!(rows[1], [1.0, 7.0]);
        assert_eq!((rows[5], begun.mean()[0]), ([7.0, 7.0], 2.0));
        begun.reset();
        assert_eq!(begun, beginning.begun());
    }

    #[test]
    fn what_was_not_read_is_no_part_of_the_beginning() {
        let beginning = Beginning { own: vec![true], steps: 5 };
        let mut begun = beginning.begun();
        // A sensor that begins late, at 8 where the nominal mean is 0.
        let mut rows = [[0.0], [0.0], [8.0], [8.0]];
        for (t, row) in rows.iter_mut().enumerate() {
            beginning.apply(&mut begun, row, &[t < 2]);
        }
        assert_eq!(rows, [[0.0]; 4]);
    }
}
