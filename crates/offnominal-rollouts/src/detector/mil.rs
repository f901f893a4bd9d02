//! Multiple-instance learning: which steps of a rollout are telling is learned from its outcome alone.
//!
//! A network ([`super::recurrent`]) gives each step t a score s(t) from the magnitude and the consistency error of the chunks
//! and their means so far; it reads neither the time nor the task. What is said of the rollout at step k is pooled over the
//! steps so far, as the mean b(k) of the share q of the largest (q = ¼).
//!
//! In weakly supervised anomaly detection the pooled score of an abnormal video must be above that of a normal one. Here that
//! would teach the length: a longer rollout has more steps to take the largest of, and failures run longer. So b is compared
//! only between a failing and a succeeding rollout of the same task that both still run at the same step: over all such
//! pairs, the mean of
//!
//! log(1 + exp(b_success(k) − b_failure(k)))
//!
//! is minimised, which is a smooth form of one minus the landmark area. Five networks are trained, and the mean of their s is
//! pooled; of each the one is kept that ranks held-out rollouts best.
//!
//! Assumes: a step that is telling is so in any task. Learns from: outcomes.
//! References: Sultani, Chen and Shah, CVPR 2018, arXiv 1801.04264 (ranking of bags by their largest score); Tian et al.,
//! ICCV 2021, arXiv 2101.10030 (means of the largest); the comparison within risk sets is that of Cox, Journal of the Royal
//! Statistical Society B 34(2), 1972.

mod pool;

use super::features::read_signals;
use super::matched;
use super::recurrent::{Design, Inputs, Instructions, Objective, Recipe, Trained, net::Batch};
use super::{Fitted, Lesson, Scorer, Seen, Start};
use crate::rollout::Rollouts;
use anyhow::Result;
use offnominal_core::archive::{ArchiveError, Reader, Writer};
use pool::Pool;

const DESIGN: Design = Design { hidden: 8, head: &[8], outputs: 1, members: 5 };
const RECIPE: Recipe =
    Recipe { epochs: 150, batch: usize::MAX, rate: 1e-2, decay: 1e-2, dropout: 0.2, look: 5, patience: 40 };

/// The networks.
pub(super) struct Mil(Trained);

impl Mil {
    /// Trains them.
    pub(super) fn fit(lesson: &Lesson<'_>) -> Result<Mil> {
        let data = lesson.data;
        let signals = read_signals(data, &[])?;
        let inputs = Inputs::new(lesson, signals.clone(), Instructions::default());
        let inputs = inputs.with_means(lesson, signals);
        let seed = lesson.seed.child("mil");
        Ok(Mil(DESIGN.train(inputs, (&RECIPE, &Pairs { data }), lesson, seed)?))
    }

    pub(super) fn load(from: &Reader<'_>, n_tasks: usize, n_signals: usize) -> Result<Mil, ArchiveError> {
        Ok(Mil(DESIGN.load(from, n_tasks, n_signals)?))
    }
}

impl Fitted for Mil {
    fn begin(&self, start: &Start<'_>) -> Result<Box<dyn Scorer>> {
        let (mut networks, mut pool) = (self.0.begin(start)?, Pool::default());
        Ok(Box::new(move |seen: Seen<'_>| pool.push(networks.step(seen)[0])))
    }

    fn save(&self, to: &mut Writer<'_>) {
        self.0.save(to);
    }
}

/// Failures against successes of the same task at the same step.
struct Pairs<'a> {
    data: &'a Rollouts,
}

/// The pooled score of each step of each rollout of a batch.
fn pooled(batch: &Batch, out: &[f32]) -> Vec<Vec<f64>> {
    let n = batch.lengths.len();
    let of = |i: usize| {
        let mut pool = Pool::default();
        (0..batch.lengths[i]).map(|k| pool.push(f64::from(out[k * n + i]))).collect()
    };
    (0..n).map(of).collect()
}

impl Pairs<'_> {
    /// The mean loss of all pairs, and its derivatives by the pooled scores.
    fn of_pooled(&self, batch: &Batch, pooled: &[Vec<f64>]) -> (f64, Vec<Vec<f64>>) {
        let mut d: Vec<Vec<f64>> = pooled.iter().map(|b| vec![0.0; b.len()]).collect();
        let (mut loss, mut n) = (0.0, 0.0);
        for [failures, successes] in matched::by_task(self.data, &batch.rollouts) {
            for (&f, &s) in failures.iter().flat_map(|f| successes.iter().map(move |s| (f, s))) {
                for k in 0..batch.lengths[f].min(batch.lengths[s]) {
                    let gap = pooled[s][k] - pooled[f][k];
                    loss += gap.max(0.0) + (-gap.abs()).exp().ln_1p();
                    let slope = 1.0 / (1.0 + (-gap).exp());
                    d[s][k] += slope;
                    d[f][k] -= slope;
                    n += 1.0;
                }
            }
        }
        let n = f64::max(n, 1.0);
        d.iter_mut().flatten().for_each(|d| *d /= n);
        (loss / n, d)
    }
}

impl Objective for Pairs<'_> {
    fn loss(&self, batch: &Batch, out: &[f32], d_out: &mut [f32]) -> f64 {
        let n = batch.lengths.len();
        let (loss, d_pooled) = self.of_pooled(batch, &pooled(batch, out));
        for (i, d_pooled) in d_pooled.iter().enumerate() {
            let scores: Vec<f64> = (0..batch.lengths[i]).map(|k| f64::from(out[k * n + i])).collect();
            let d_scores = pool::back(&scores, d_pooled);
            d_scores.into_iter().enumerate().for_each(|(k, d)| d_out[k * n + i] = d as f32);
        }
        loss
    }

    fn rank(&self, batch: &Batch, out: &[f32]) -> Option<f64> {
        matched::area(self.data, &batch.rollouts, &pooled(batch, out))
    }
}
