//! Transitions in the units of a dynamics model: what it reads, and what it must predict.
//!
//! input = (z(o), z(a)); target_j = (o′_j − o_j − m_j) / s_j, for each observation channel j that varies.
//!
//! m_j is the nominal mean of the change, and s_j its deviation, but at least [`FLOOR`] of the deviation of the channel
//! itself. A constant channel that a recipe keeps has the deviation of the channel as its unit. The floor is for channels that stand still within an episode (a goal, say): their change has deviation zero,
//! yet a change of them is news, and its size is measured against what the channel is known to span.

use super::scale::{Constant, Scale, limit};
use offnominal_core::archive::{ArchiveError, Reader, Writer};
use offnominal_core::detector::Signals;
use offnominal_core::transition::Transition;
use std::ops::Range;

/// The smallest unit of change, as a part of the channel's own standard deviation.
pub(crate) const FLOOR: f64 = 0.01;

/// How transitions become rows.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Units {
    obs: Scale,
    action: Scale,
    /// Mean and unit of the change of each kept observation channel.
    change: Vec<(f32, f32)>,
}

/// Rows to learn from.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Rows {
    /// `[n, n_inputs]`.
    pub inputs: Vec<f32>,
    /// `[n, n_targets]`.
    pub targets: Vec<f32>,
    /// The rows of each episode.
    pub episodes: Vec<Range<u32>>,
}

impl Units {
    /// Learns the units from nominal episodes.
    pub fn fit(train: &[Signals<'_>], constant: Constant) -> Units {
        let (obs, _) = Scale::of_observations(train, constant);
        let change = (0..obs.width()).map(|kept| {
            let of = |row| obs.select(row).nth(kept).map_or(0.0, f64::from);
            let (mean, deviation) =
                moments(|| train.iter().flat_map(|e| e.transitions()).map(|t| of(t.next_obs) - of(t.obs)));
            let floor = if constant == Constant::Kept && obs.was_constant(kept) { 1.0 } else { FLOOR };
            (mean as f32, deviation.max(floor * f64::from(obs.deviations()[kept])) as f32)
        });
        let change = change.collect();
        Units { obs, action: Scale::of_actions(train), change }
    }

    /// Writes the units.
    pub fn save(&self, to: &mut Writer<'_>) {
        self.obs.save(&mut to.part("obs"));
        self.action.save(&mut to.part("action"));
        to.put("change-mean", &self.change.iter().map(|c| c.0).collect::<Vec<_>>());
        to.put("change-unit", &self.change.iter().map(|c| c.1).collect::<Vec<_>>());
    }

    /// Reads the units.
    pub fn load(from: &Reader<'_>) -> Result<Units, ArchiveError> {
        let obs = Scale::load(&from.part("obs"), from.obs_width)?;
        let action = Scale::load(&from.part("action"), from.act_width)?;
        let means = from.exactly::<f32>("change-mean", obs.width())?;
        let units = from.exactly::<f32>("change-unit", obs.width())?;
        from.require(units.iter().all(|&u| u > 0.0), "change-unit", "numbers above zero", "others")?;
        Ok(Units { change: means.iter().copied().zip(units.iter().copied()).collect(), obs, action })
    }

    /// Width of an input; at least one, so that there is a network even where nothing varies.
    pub fn n_inputs(&self) -> usize {
        (self.obs.width() + self.action.width()).max(1)
    }

    /// Width of a target; at least one.
    pub fn n_targets(&self) -> usize {
        self.change.len().max(1)
    }

    /// The observation channels that are kept.
    pub fn channels(&self) -> &[usize] {
        self.obs.varying()
    }

    /// Number of actions that are kept.
    pub fn act_width(&self) -> usize {
        self.action.width()
    }

    /// Unit of the change of a kept channel.
    pub fn unit_of_change(&self, kept: usize) -> f32 {
        self.change[kept].1
    }

    /// Unit of the change of each kept channel, as a part of the channel's own deviation.
    pub fn change_in_deviations(&self, kept: usize) -> f64 {
        f64::from(self.change[kept].1) / f64::from(self.obs.deviations()[kept])
    }

    /// Writes what the model reads of a transition.
    pub fn input(&self, seen: &Transition<'_>, input: &mut [f32]) {
        let (obs, rest) = input.split_at_mut(self.obs.width());
        self.obs.apply(seen.obs, obs);
        self.action.apply(seen.action, &mut rest[..self.action.width()]);
    }

    /// Writes what the model must predict of it.
    pub fn target(&self, seen: &Transition<'_>, target: &mut [f32]) {
        let changes = self.obs.select(seen.obs).zip(self.obs.select(seen.next_obs));
        for ((target, (before, after)), (mean, unit)) in target.iter_mut().zip(changes).zip(&self.change) {
            *target = limit((after - before - mean) / unit);
        }
    }

    /// Adds a predicted change, in units of a target, to the observation it was predicted for.
    pub fn advance(&self, target: &[f32], obs: &mut [f32]) {
        for ((&channel, t), (mean, unit)) in self.obs.varying().iter().zip(target).zip(&self.change) {
            obs[channel] += mean + unit * limit(*t);
        }
    }

    /// Writes the difference of two observations, in units of the change.
    pub fn difference(&self, obs: &[f32], expected: &[f32], out: &mut [f64]) {
        out.fill(0.0);
        let pairs = self.obs.select(obs).zip(self.obs.select(expected));
        for ((out, (found, expected)), (_, unit)) in out.iter_mut().zip(pairs).zip(&self.change) {
            *out = f64::from(limit((found - expected) / unit));
        }
    }

    /// All transitions of some episodes.
    pub fn rows(&self, episodes: &[Signals<'_>]) -> Rows {
        let n: usize = episodes.iter().map(Signals::len).sum();
        let mut rows = Rows {
            inputs: vec![0.0; n * self.n_inputs()],
            targets: vec![0.0; n * self.n_targets()],
            episodes: Vec::new(),
        };
        let inputs = rows.inputs.chunks_exact_mut(self.n_inputs());
        let targets = rows.targets.chunks_exact_mut(self.n_targets());
        let transitions = episodes.iter().flat_map(|e| e.transitions());
        for ((seen, input), target) in transitions.zip(inputs).zip(targets) {
            self.input(&seen, input);
            self.target(&seen, target);
        }
        let mut end = 0;
        rows.episodes.extend(episodes.iter().map(|e| {
            let start = end;
            end += e.len() as u32;
            start..end
        }));
        rows
    }
}

/// Mean of the squared differences between a prediction and what happened.
pub(crate) fn mean_square(output: &[f32], target: &[f32]) -> f64 {
    let square = |(f, t): (&f32, &f32)| (f64::from(*f) - f64::from(*t)).powi(2);
    output.iter().zip(target).map(square).sum::<f64>() / target.len() as f64
}

/// Mean and standard deviation, in two passes.
fn moments<I: Iterator<Item = f64>>(values: impl Fn() -> I) -> (f64, f64) {
    let n = values().count().max(1) as f64;
    let mean = values().sum::<f64>() / n;
    (mean, (values().map(|v| (v - mean).powi(2)).sum::<f64>() / n).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_channel_that_stands_still_within_an_episode_is_measured_against_its_span() {
        // The goal (second channel) is −1 in one episode and 1 in the other: deviation 1, change 0.
        let (first, second) = ([0.0, -1.0, 1.0, -1.0], [0.0, 1.0, 3.0, 1.0]);
        let train = [Signals::new(&first, &[0.0], 2, 1), Signals::new(&second, &[1.0], 2, 1)];
        let units = Units::fit(&train, Constant::Dropped);
        assert_eq!((units.n_inputs(), units.n_targets()), (3, 2));
        let mut target = [0.0; 2];
        units.target(&train[1].transition(0), &mut target);
        assert_eq!(target, [1.0, 0.0], "changes 1 and 3 have mean 2 and deviation 1");
        let moved = Transition { obs: &[0.0, 1.0], action: &[0.0], next_obs: &[2.0, 1.5] };
        units.target(&moved, &mut target);
        assert_eq!(target, [0.0, 50.0], "half a deviation of the channel, in units of a hundredth");
    }

    #[test]
    fn the_change_of_a_constant_channel_that_is_kept_has_the_unit_of_the_channel() {
        let train = [Signals::new(&[0.0, 5.0, 2.0, 5.0], &[0.0], 2, 1)];
        let units = Units::fit(&train, Constant::Kept);
        let mut target = [0.0; 2];
        units.target(&Transition { obs: &[0.0, 5.0], action: &[0.0], next_obs: &[2.0, 5.5] }, &mut target);
        assert!((target[1] - 5e5).abs() < 1.0, "{target:?}");
    }

    #[test]
    fn rows_know_their_episode() {
        let (obs, act) = ([0.0, 1.0, 3.0, 0.0], [0.0, 1.0, 2.0]);
        let train = [Signals::new(&obs, &act, 1, 1), Signals::new(&obs[..2], &act[..1], 1, 1)];
        let rows = Units::fit(&train, Constant::Dropped).rows(&train);
        assert_eq!(rows.episodes, [0..3, 3..4]);
        assert_eq!((rows.inputs.len(), rows.targets.len()), (8, 4));
        assert_eq!(rows.inputs[..2], rows.inputs[6..]);
    }

    #[test]
    fn nothing_that_varies_is_one_channel_of_zeros() {
        let train = [Signals::new(&[5.0; 4], &[0.0; 3], 1, 1)];
        let rows = Units::fit(&train, Constant::Dropped).rows(&train);
        assert_eq!((rows.inputs, rows.targets), (vec![0.0; 3], vec![0.0; 3]));
    }
}
