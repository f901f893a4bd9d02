//! What the signals say so far, whatever the step is: the mean so far of each, in deviations from the mean of the rollouts
//! that run at the step.

use super::plain::{Accumulator, Running};
use crate::rollout::Rollouts;
use anyhow::Result;
use offnominal_core::archive::{ArchiveError, Reader, Writer};

/// Rollouts that must run at a step for it to have its own scale; later steps have that of the last such step.
const FEWEST: usize = 20;
/// Deviations beyond which a feature says no more.
const LARGEST: f64 = 5.0;

/// Names of the two signals of chunks that are read where none are named.
const CHUNK_SIGNALS: [&str; 4] = ["acm", "tce", "action_norm", "chunk_mse"];

/// The signals that are named; else the two of chunks, as ActProbe reads them; else all.
pub(super) fn read_signals(data: &Rollouts, names: &[String]) -> Result<Vec<usize>> {
    if !names.is_empty() {
        return names.iter().map(|name| data.signal(name)).collect();
    }
    let all = 0..data.signals.len();
    let usual: Vec<usize> =
        all.clone().filter(|&s| CHUNK_SIGNALS.contains(&data.signals[s].as_str())).collect();
    Ok(if usual.is_empty() { all.collect() } else { usual })
}

/// Which signals are read, and the scale of the mean so far of each at each step.
#[derive(Debug, Clone)]
pub(super) struct Features {
    /// Places of the signals.
    signals: Vec<usize>,
    /// Mean and deviation, `[signals][steps]`.
    scales: Vec<Vec<(f64, f64)>>,
}

impl Features {
    /// Measured on rollouts.
    pub(super) fn of(data: &Rollouts, train: &[usize], signals: Vec<usize>) -> Features {
        let scales = signals.iter().map(|&signal| {
            let means: Vec<Vec<f64>> = train.iter().map(|&i| so_far(data, i, signal)).collect();
            scale(&means)
        });
        Features { scales: scales.collect(), signals }
    }

    /// Number of features.
    pub(super) fn len(&self) -> usize {
        self.signals.len()
    }

    /// The features of a rollout that begins.
    pub(super) fn begin(&self) -> FeaturesSoFar {
        FeaturesSoFar { of: self.clone(), means: vec![Running::new(Accumulator::Mean); self.len()], step: 0 }
    }

    /// The features of each step of a recorded rollout.
    pub(super) fn rows(&self, data: &Rollouts, rollout: usize) -> Vec<Vec<f64>> {
        let (r, mut so_far) = (&data.rollouts[rollout], self.begin());
        (0..r.steps()).map(|k| so_far.next(|signal| r.signals[signal][k])).collect()
    }

    pub(super) fn save(&self, to: &mut Writer<'_>) {
        to.put("signals", &self.signals.iter().map(|&signal| signal as u64).collect::<Vec<_>>());
        for (feature, scale) in self.scales.iter().enumerate() {
            let (means, deviations): (Vec<f64>, Vec<f64>) = scale.iter().copied().unzip();
            to.part(feature).put("means", &means);
            to.part(feature).put("deviations", &deviations);
        }
    }

    pub(super) fn load(from: &Reader<'_>, n_signals: usize) -> Result<Features, ArchiveError> {
        let signals = load_signals(from, n_signals)?;
        let scales = (0..signals.len()).map(|feature| scale_of(&from.part(feature)));
        let scales = scales.collect::<Result<_, _>>()?;
        Ok(Features { signals, scales })
    }
}

/// The numbers of the signals that something reads.
pub(super) fn load_signals(from: &Reader<'_>, n_signals: usize) -> Result<Vec<usize>, ArchiveError> {
    let signals: &[u64] = from.list("signals")?;
    let is_known = signals.len() <= n_signals && signals.iter().all(|&signal| signal < n_signals as u64);
    from.require(is_known, "signals", format!("at most {n_signals} numbers below {n_signals}"), "others")?;
    Ok(signals.iter().map(|&signal| signal as usize).collect())
}

/// The scale of a feature at each step.
fn scale_of(from: &Reader<'_>) -> Result<Vec<(f64, f64)>, ArchiveError> {
    let means: &[f64] = from.list("means")?;
    from.require(!means.is_empty(), "means", "a step or more", "none")?;
    let deviations = from.exactly::<f64>("deviations", means.len())?;
    let smallest = deviations.iter().copied().fold(f64::INFINITY, f64::min);
    from.require(smallest > 0.0, "deviations", "numbers above zero", smallest)?;
    Ok(means.iter().copied().zip(deviations.iter().copied()).collect())
}

/// The features of a rollout in progress.
pub(super) struct FeaturesSoFar {
    of: Features,
    means: Vec<Running>,
    step: usize,
}

impl FeaturesSoFar {
    /// Those of the next step, whose signals are given by their places.
    pub(super) fn next(&mut self, signal: impl Fn(usize) -> f64) -> Vec<f64> {
        let step = self.step;
        self.step += 1;
        let z = |((means, &place), scale): ((&mut Running, &usize), &Vec<(f64, f64)>)| {
            let (mean, deviation) = scale[step.min(scale.len() - 1)];
            ((means.next(signal(place)) - mean) / deviation).clamp(-LARGEST, LARGEST)
        };
        self.means.iter_mut().zip(&self.of.signals).zip(&self.of.scales).map(z).collect()
    }
}

/// The mean so far of a signal.
fn so_far(data: &Rollouts, rollout: usize, signal: usize) -> Vec<f64> {
    Accumulator::Mean.of(&data.rollouts[rollout].signals[signal])
}

/// Mean and deviation at each step with enough rollouts; those of the first step if there is none.
fn scale(means: &[Vec<f64>]) -> Vec<(f64, f64)> {
    let longest = means.iter().map(Vec::len).max().unwrap_or(0);
    let at = |k: usize| means.iter().filter_map(move |m| m.get(k).copied());
    let moments = |k: usize| {
        let n = at(k).count() as f64;
        let mean = at(k).sum::<f64>() / n;
        (mean, (at(k).map(|m| (m - mean).powi(2)).sum::<f64>() / n).sqrt())
    };
    let steps = (0..longest).take_while(|&k| k == 0 || at(k).count() >= FEWEST);
    let steps: Vec<(f64, f64)> = steps.map(moments).collect();
    // Where nothing varies yet, such as at the first step, a feature is nothing.
    let largest = steps.iter().map(|(_, deviation)| *deviation).fold(0.0, f64::max);
    let floor = if largest > 0.0 { 1e-3 * largest } else { 1.0 };
    steps.into_iter().map(|(mean, deviation)| (mean, deviation.max(floor))).collect()
}
