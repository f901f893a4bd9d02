//! One channel on both sides: the values that were read, and how they differ.

use crate::episodes::Recorded;
use crate::mapping::{Channel, Mapping};
use offnominal_core::estimate::Estimate;
use offnominal_report::number;
use offnominal_stats::Bootstrap;
use offnominal_stats::contrast::Contrast;
use offnominal_stats::drift::Difference;
use serde::Serialize;

/// A value is new at a step if it is younger than the step is long; ages are in single precision.
const NEW: f64 = 0.999_999;

/// How a channel differs from the reference.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ChannelDrift {
    /// Its name.
    pub name: String,
    /// Its unit, where a log states one.
    pub unit: Option<String>,
    /// The distance of Kolmogorov and Smirnov between the distributions of its values; each recording counts the same.
    pub distance: Estimate,
    /// The change of its mean in standard deviations of the reference; `None` if it does not vary there.
    pub mean_change: Option<Estimate>,
    /// The share of steps with a new value, in the reference and here.
    pub read: [f64; 2],
    /// The smallest and the largest value, in the reference and here.
    pub range: [[f64; 2]; 2],
    /// The probability by chance of so large a difference of any channel, at most, by permutations of whole recordings; `None`
    /// if there are too few.
    pub p: Option<f64>,
    /// In what it differs most: mean, spread, shape, or share of steps with a new value; where there is a test.
    pub most_in: Option<&'static str>,
    /// The distribution functions: values, each with the shares that are not above it.
    #[serde(skip)]
    pub distributions: Vec<(f64, [f64; 2])>,
}

/// Recordings of one side.
pub(super) struct Side<'a> {
    all: &'a [Recorded],
    n_channels: usize,
}

impl<'a> Side<'a> {
    pub fn of(all: &'a [Recorded], mapping: &Mapping) -> Side<'a> {
        Side { all, n_channels: mapping.observation.len() }
    }

    /// How long a recording lasts, in the middle of all.
    pub fn typical_secs(&self) -> f64 {
        middle(self.all.iter().map(|one| one.secs.last().copied().unwrap_or(0.0)).collect())
    }

    /// The new values of a channel in each recording: what is only held says nothing more.
    fn values(&self, channel: usize) -> Vec<Vec<f64>> {
        let of = |one: &Recorded| {
            let at = |step: usize| one.observations[step * self.n_channels + channel];
            let is_new = |step: &usize| {
                let long = if *step == 0 { f64::INFINITY } else { one.secs[*step] - one.secs[*step - 1] };
                f64::from(one.ages_secs[step * self.n_channels + channel]) <= (NEW * long).max(0.0)
            };
            (0..one.secs.len()).filter(is_new).map(at).filter(|x| x.is_finite()).collect()
        };
        self.all.iter().map(of).collect()
    }

    fn shares_read(&self, values: &[Vec<f64>]) -> Vec<f64> {
        self.all.iter().zip(values).map(|(one, values)| values.len() as f64 / one.secs.len() as f64).collect()
    }
}

/// The middle of some numbers.
pub(super) fn middle(mut all: Vec<f64>) -> f64 {
    all.sort_by(f64::total_cmp);
    all[all.len() / 2]
}

fn range(values: &[Vec<f64>]) -> [f64; 2] {
    let all = || values.iter().flatten().copied();
    [all().fold(f64::INFINITY, f64::min), all().fold(f64::NEG_INFINITY, f64::max)]
}

impl ChannelDrift {
    /// A channel of both sides; with numbers of each recording that tell a difference.
    pub(super) fn of(
        channel: &Channel,
        at: usize,
        sides: &[Side<'_>; 2],
        plan: &Bootstrap,
    ) -> (ChannelDrift, Vec<Vec<f64>>) {
        let [reference, others] = [0, 1].map(|side| sides[side].values(at));
        let read = [sides[0].shares_read(&reference), sides[1].shares_read(&others)];
        let (ranges, second) = ([range(&reference), range(&others)], reference.len());
        let both = Contrast::new(&[reference, others].concat(), second);
        let found = ChannelDrift {
            name: channel.name().into(),
            unit: channel.unit.clone(),
            distance: both.distance(plan),
            mean_change: both.shift(plan.level),
            read: [0, 1].map(|side| read[side].iter().sum::<f64>() / read[side].len() as f64),
            range: ranges,
            p: None,
            most_in: None,
            distributions: both.distributions().collect(),
        };
        let with_read = |(read, mut features): (&f64, Vec<f64>)| {
            features.insert(0, *read);
            features
        };
        (found, read.concat().iter().zip(both.features()).map(with_read).collect())
    }

    /// Takes what a test says of its numbers.
    pub(super) fn judge(&mut self, tested: &[Difference]) {
        let size = |i: &usize| tested[*i].correlation.abs();
        // Of equal ones the first counts, and sums of the same numbers differ by rounding.
        let larger = |a, b| if size(&b) > size(&a) + 1e-9 { b } else { a };
        let Some(most) = (0..tested.len()).reduce(larger) else { return };
        self.p = Some(tested[most].p);
        self.most_in = Some(["values read", "mean", "spread"].get(most).unwrap_or(&"shape"));
    }

    /// What is to be said of a channel that never changes on a side.
    pub(super) fn remark(&self) -> Option<String> {
        let never = |side: usize| self.range[side][0] == self.range[side][1];
        let [reference, others] = [0, 1].map(|side| number::plain(self.range[side][0]));
        let name = &self.name;
        match (never(0), never(1)) {
            (true, true) => Some(format!("{name}: always {reference} in the reference, and {others} here")),
            (true, false) => Some(format!(
                "{name}: always {reference} in the reference, so a change of its mean has no unit there"
            )),
            (false, true) => Some(format!("{name}: always {others} here, and not in the reference")),
            (false, false) => None,
        }
    }
}
