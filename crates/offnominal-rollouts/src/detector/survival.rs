//! A network that reads a rollout and says how its two ends come nearer: failure and success are competing risks.
//!
//! A running rollout of a task fails at step j with rate λ₁(j) and succeeds with rate λ₀(j), as far as task and step tell
//! (`rates`). At each step k the network ([`super::recurrent`]) reads the mean so far of the magnitude and of the consistency
//! error of the chunks, both in deviations from the rollouts that run at the step, and gives θ₁(k) and θ₀(k), by which both
//! rates change from there on:
//!
//! λ_c(j | k) = λ_c(j) e^{θ_c(k)} for j ≥ k.
//!
//! A rollout that ends at step T in the way c has, seen from step k, the likelihood
//!
//! λ_c(T | k) exp(−Σ_{k ≤ j ≤ T} (λ₁(j | k) + λ₀(j | k))),
//!
//! and the mean of its logarithm over all running steps of all rollouts is maximised. So the network learns from the step at
//! which a success comes, too, and not from the outcome alone. The score is the probability to fail before one succeeds,
//!
//! p(k) = F₁ / (F₁ + F₀), F_c = Σ_{j ≥ k} S(j) (1 − e^{−λ(j | k)}) λ_c(j | k) / λ(j | k), λ = λ₁ + λ₀,
//!
//! with S(j) the probability that nothing has ended before j; beyond the last known step it stays that of the last one.
//! θ is cut at ±5. Five networks are trained, and the mean of their θ is taken. Of each the one is kept that ranks held-out
//! rollouts best at the same task and step.
//!
//! Assumes: what is seen at a step changes both rates by a factor. Learns from: outcomes, and the steps of the ends.
//! References: van Houwelingen, Scandinavian Journal of Statistics 34(1), 2007 (landmark models); Prentice and Gloeckler,
//! Biometrics 34(1), 1978 (grouped times); Lee et al., AAAI 2018 (DeepHit, competing risks by a network).

mod rates;

use super::features::read_signals;
use super::matched;
use super::recurrent::{Design, Inputs, Instructions, Objective, Recipe, Trained, net::Batch};
use super::{Fitted, Lesson, Scorer, Seen, Start};
use crate::rollout::Rollouts;
use anyhow::Result;
use offnominal_core::archive::{ArchiveError, Reader, Writer};
use rates::Rates;
use std::sync::Arc;

const DESIGN: Design = Design { hidden: 16, head: &[8], outputs: 2, members: 5 };
const RECIPE: Recipe =
    Recipe { epochs: 150, batch: 64, rate: 3e-3, decay: 1e-2, dropout: 0.2, look: 5, patience: 40 };
/// Largest change of the logarithm of a rate.
const LARGEST: f64 = 5.0;

/// The rates by task and step, and the networks that change them.
pub(super) struct Survival {
    rates: Arc<Rates>,
    networks: Trained,
}

impl Survival {
    /// Counts ends, and trains the networks.
    pub(super) fn fit(lesson: &Lesson<'_>) -> Result<Survival> {
        let data = lesson.data;
        let rates = Rates::of(data, &lesson.part.train);
        let signals = read_signals(data, &[])?;
        let inputs = Inputs::new(lesson, vec![], Instructions::default()).with_means(lesson, signals);
        let objective = Ends { data, rates: &rates };
        let seed = lesson.seed.child("survival");
        let networks = DESIGN.train(inputs, (&RECIPE, &objective), lesson, seed)?;
        Ok(Survival { rates: Arc::new(rates), networks })
    }

    pub(super) fn load(
        from: &Reader<'_>,
        n_tasks: usize,
        n_signals: usize,
    ) -> Result<Survival, ArchiveError> {
        let rates = Arc::new(Rates::load(&from.part("rates"), n_tasks)?);
        Ok(Survival { rates, networks: DESIGN.load(&from.part("networks"), n_tasks, n_signals)? })
    }
}

impl Fitted for Survival {
    fn begin(&self, start: &Start<'_>) -> Result<Box<dyn Scorer>> {
        let (rates, task, mut step) = (Arc::clone(&self.rates), start.task, 0);
        let mut networks = self.networks.begin(start)?;
        Ok(Box::new(move |seen: Seen<'_>| {
            let out = networks.step(seen);
            step += 1;
            rates.probability(task, step - 1, [cut(out[0]), cut(out[1])])
        }))
    }

    fn save(&self, to: &mut Writer<'_>) {
        self.rates.save(&mut to.part("rates"));
        self.networks.save(&mut to.part("networks"));
    }
}

fn cut(theta: f64) -> f64 {
    theta.clamp(-LARGEST, LARGEST)
}

/// When, and how, rollouts end.
struct Ends<'a> {
    data: &'a Rollouts,
    rates: &'a Rates,
}

impl Objective for Ends<'_> {
    /// The mean of −log likelihood over running steps, but for what does not depend on θ.
    fn loss(&self, batch: &Batch, out: &[f32], d_out: &mut [f32]) -> f64 {
        let (n, steps) = (batch.lengths.len(), batch.lengths.iter().sum::<usize>() as f64);
        let mut loss = 0.0;
        for (i, (&rollout, &length)) in batch.rollouts.iter().zip(&batch.lengths).enumerate() {
            let r = &self.data.rollouts[rollout];
            for k in 0..length {
                let at = 2 * (k * n + i);
                let to_come = self.rates.sums(r.task, k, length);
                for (c, sum) in to_come.into_iter().enumerate() {
                    let raw = f64::from(out[at + c]);
                    let (theta, ends) = (cut(raw), f64::from(u8::from(usize::from(!r.fails) == c)));
                    let rate = sum * theta.exp();
                    loss += (rate - ends * theta) / steps;
                    // Beyond the cut only what leads back has a slope.
                    let slope = (rate - ends) / steps;
                    let is_beyond = theta != raw && slope * raw < 0.0;
                    d_out[at + c] = if is_beyond { 0.0 } else { slope as f32 };
                }
            }
        }
        loss
    }

    fn rank(&self, batch: &Batch, out: &[f32]) -> Option<f64> {
        let n = batch.lengths.len();
        let score = |i: usize, k: usize| {
            let theta = [0, 1].map(|c| cut(f64::from(out[2 * (k * n + i) + c])));
            self.rates.probability(Some(self.data.rollouts[batch.rollouts[i]].task), k, theta)
        };
        let of = |i: usize| (0..batch.lengths[i]).map(|k| score(i, k)).collect();
        matched::area(self.data, &batch.rollouts, &(0..n).map(of).collect::<Vec<Vec<f64>>>())
    }
}
