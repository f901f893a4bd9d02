//! f as the chance that the margin of an episode falls to zero, where dense networks say its mean and its scale.
//!
//! Episodes that did not fail tell how near they came, so that initial conditions are ranked by few failures, or by none. The
//! networks are trained by the likelihood of a normal margin (Nix & Weigend 1994) with Adam. A tenth of the examples is held
//! out: it says when to stop, and by which factor the scales are too small. Far from the margins that were seen nobody
//! knows the tail, so f is that of Student's distribution with four degrees of freedom, which falls slowly.
//!
//! Assumes: what lowers the margin makes failures likelier. Blind to: failures that come without warning.
//! Reference: D. A. Nix and A. S. Weigend, "Estimating the mean and variance of the target probability distribution", IEEE
//! International Conference on Neural Networks, 1994.

use crate::ensemble::{self, Plan, Validation};
use crate::examples::Examples;
use offnominal_core::Rng;
use offnominal_nets::loss::gaussian_nll;
use offnominal_nets::{Activation, Adam, Gradients, Init, Mlp, Workspace};

/// Networks of one shape.
#[derive(Debug, Clone, PartialEq)]
pub struct Margins {
    pub(crate) net: Mlp,
    pub(crate) params: Vec<Vec<f32>>,
    pub(crate) unit: Unit,
}

/// The unit in which networks see margins.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Unit {
    /// The mean margin.
    pub mean: f32,
    /// Its standard deviation.
    pub sd: f32,
    /// What scales that the networks say are multiplied by.
    pub spread: f32,
    /// The most that a margin counts.
    pub most: f32,
}

/// Examples per gradient step, and gradient steps between validations.
const BATCH: usize = 128;
const VALIDATE_EVERY: usize = 100;
/// Share of the examples that is held out.
const HELD_OUT: f64 = 0.1;
/// Share of the margins that are not limited: larger ones say nothing of failures.
const LIMITED: f64 = 0.95;
/// Limits of the logarithm of a variance, in the unit of the networks.
const LOG_VAR: (f32, f32) = (-12.0, 6.0);
/// Limits of the factor of the scales.
const SPREAD: (f32, f32) = (0.1, 10.0);
const ADAM: Adam = Adam { lr: 1e-3, beta1: 0.9, beta2: 0.999, eps: 1e-8, weight_decay: 1e-2 };

impl Unit {
    fn of(examples: &Examples) -> Unit {
        let mut margins = examples.margins().to_vec();
        margins.sort_unstable_by(f32::total_cmp);
        let most = margins[(LIMITED * (margins.len() - 1) as f64) as usize];
        let n = margins.len() as f64;
        let limited = || margins.iter().map(|margin| f64::from(margin.min(most)));
        let mean = limited().sum::<f64>() / n;
        let sd = (limited().map(|m| (m - mean).powi(2)).sum::<f64>() / n).sqrt();
        Unit { mean: mean as f32, sd: (sd as f32).max(f32::MIN_POSITIVE), spread: 1.0, most }
    }

    /// A margin as the networks see it.
    fn seen(&self, margin: f32) -> f32 {
        (margin.min(self.most) - self.mean) / self.sd
    }
}

impl Margins {
    /// Trains `members` networks for up to so many gradient steps, with the parameters that predict a held-out tenth of the
    /// examples best.
    pub(crate) fn fit(
        hidden: &[usize],
        members: usize,
        examples: &Examples,
        steps: usize,
        rng: &mut Rng,
    ) -> Margins {
        let unit = Unit::of(examples);
        let (train, held_out) = examples.split_at_random(HELD_OUT, rng);
        let net = Mlp::new(&[&[train.row_width()], hidden, &[2]].concat(), Activation::Relu);
        let draw = |_| {
            let mut params = vec![0.0; net.n_params()];
            net.init(&mut params, Init::Uniform, rng);
            params
        };
        let first = (0..members).map(draw).collect();
        let loss = |params: &[Vec<f32>], at: &Examples| {
            Margins { net: net.clone(), params: params.to_vec(), unit }.loss(at)
        };
        let validation = (!held_out.is_empty()).then_some(Validation {
            every: VALIDATE_EVERY,
            at: &held_out,
            loss: &loss,
        });
        let (mut work, mut delta) = (net.workspace(BATCH), vec![0.0; 2 * BATCH]);
        let gradient = |batch: &Examples, params: &[f32], grad: &mut [f32]| {
            let targets: Vec<f32> = batch.margins().iter().map(|&margin| unit.seen(margin)).collect();
            let mut said = net.forward(params, batch.rows(), &mut work).to_vec();
            let inside = limited(&mut said);
            gaussian_nll(&said, &targets, 1, &mut delta);
            delta.iter_mut().skip(1).step_by(2).zip(inside).for_each(|(d, inside)| *d *= inside);
            net.backward(params, batch.rows(), &mut work, &delta, Gradients::params(grad));
        };
        let plan = Plan { batch: BATCH, steps, adam: &|_| ADAM };
        let (params, _) = ensemble::train(first, &train, &plan, validation, gradient, rng);
        let found = Margins { net, params, unit };
        let spread = found.spread(&held_out);
        Margins { unit: Unit { spread, ..unit }, ..found }
    }

    /// Mean and standard deviation of the margin that each network says of a row, in its unit.
    fn say(&self, row: &[f32], work: &mut Workspace) -> Vec<(f32, f32)> {
        let one = |params: &Vec<f32>| {
            let mut said = self.net.forward(params, row, work).to_vec();
            limited(&mut said);
            (said[0], (0.5 * said[1]).exp())
        };
        self.params.iter().map(one).collect()
    }

    /// Mean −ln likelihood of the margins of examples, but for a constant, averaged over the networks.
    fn loss(&self, examples: &Examples) -> f64 {
        let mut unused = vec![0.0; 2];
        let mut work = self.workspace();
        let mut one = |(row, &margin): (&[f32], &f32)| {
            let said = self.say(row, &mut work);
            let cost = |&(mean, sd): &(f32, f32)| {
                gaussian_nll(&[mean, 2.0 * sd.ln()], &[self.unit.seen(margin)], 1, &mut unused)
            };
            said.iter().map(cost).sum::<f64>() / said.len() as f64
        };
        let rows = examples.rows().chunks_exact(examples.row_width());
        rows.zip(examples.margins()).map(&mut one).sum::<f64>() / examples.len() as f64
    }

    /// The factor with which errors have the scale that is said of them.
    fn spread(&self, held_out: &Examples) -> f32 {
        let mut work = self.workspace();
        let mut squares: Vec<f32> = Vec::new();
        let rows = held_out.rows().chunks_exact(held_out.row_width());
        for (row, &margin) in rows.zip(held_out.margins()) {
            let seen = self.unit.seen(margin);
            squares.extend(self.say(row, &mut work).iter().map(|(mean, sd)| ((seen - mean) / sd).powi(2)));
        }
        let mean = squares.iter().sum::<f32>() / squares.len().max(1) as f32;
        if squares.is_empty() { 1.0 } else { mean.sqrt().clamp(SPREAD.0, SPREAD.1) }
    }

    /// The chance to fail of one row.
    pub(crate) fn predict(&self, row: &[f32], work: &mut Workspace) -> f64 {
        let Unit { mean, sd, spread, .. } = self.unit;
        let failure = -mean / sd;
        let said = self.say(row, work);
        let one = |&(mean, sd): &(f32, f32)| tail(f64::from((failure - mean) / (spread * sd)));
        said.iter().map(one).sum::<f64>() / said.len() as f64
    }

    /// The chances of all examples.
    pub(crate) fn predict_all(&self, examples: &Examples) -> Vec<f64> {
        let mut work = self.workspace();
        examples.rows().chunks_exact(examples.row_width()).map(|row| self.predict(row, &mut work)).collect()
    }

    pub(crate) fn workspace(&self) -> Workspace {
        self.net.workspace(1)
    }
}

/// Keeps logarithms of variances within their limits; 0 for each that was beyond them, else 1.
fn limited(said: &mut [f32]) -> Vec<f32> {
    let one = |log_var: &mut f32| {
        let inside = (LOG_VAR.0..=LOG_VAR.1).contains(log_var);
        *log_var = log_var.clamp(LOG_VAR.0, LOG_VAR.1);
        f32::from(u8::from(inside))
    };
    said.iter_mut().skip(1).step_by(2).map(one).collect()
}

/// Distribution function of Student's t with four degrees of freedom.
fn tail(t: f64) -> f64 {
    let u = t / (t * t + 4.0).sqrt();
    (0.5 + 0.75 * (u - u.powi(3) / 3.0)).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tail_is_that_of_student() {
        // As scipy.stats.t(4).cdf.
        for (t, want) in [(-20.0, 1.844_155e-5), (-2.0, 0.058_058_26), (0.0, 0.5), (1.0, 0.813_049_5)] {
            assert!((tail(t) / want - 1.0).abs() < 1e-5, "{t}: {}", tail(t));
        }
    }

    #[test]
    fn large_margins_say_nothing() {
        let mut all = Examples::new(1);
        for i in 0..100 {
            all.push(&[0.0], crate::examples::Theta { iteration: 0.0, noise: 0.0 }, false);
            all.came_within(if i < 3 { 1e9 } else { f64::from(i) });
        }
        let unit = Unit::of(&all);
        assert!(unit.most < 100.0 && unit.sd < 40.0 && unit.seen(1e9) == unit.seen(unit.most), "{unit:?}");
    }
}
