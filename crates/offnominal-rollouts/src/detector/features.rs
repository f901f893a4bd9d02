//! What the signals say so far, whatever the step is: the mean so far of each, in deviations from the mean of the rollouts
//! that run at the step.

use super::plain::Accumulator;
use crate::rollout::Rollouts;
use anyhow::Result;

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

    /// The features of each step of a rollout.
    pub(super) fn rows(&self, data: &Rollouts, rollout: usize) -> Vec<Vec<f64>> {
        let means: Vec<Vec<f64>> = self.signals.iter().map(|&signal| so_far(data, rollout, signal)).collect();
        let z = |step: usize| {
            let one = |(means, scale): (&Vec<f64>, &Vec<(f64, f64)>)| {
                let (mean, deviation) = scale[step.min(scale.len() - 1)];
                ((means[step] - mean) / deviation).clamp(-LARGEST, LARGEST)
            };
            means.iter().zip(&self.scales).map(one).collect()
        };
        (0..data.rollouts[rollout].steps()).map(z).collect()
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
