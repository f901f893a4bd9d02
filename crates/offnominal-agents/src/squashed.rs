//! The squashed Gaussian: a = tanh(μ + σ ε), ε ~ N(0, I), and its gradient (Haarnoja et al. 2018, appendix C).
//!
//! A row of the head holds the d means, then the d logarithms of the deviations, cut to [−20, 2]. With u = μ + σ ε,
//!
//! log π(a) = Σ −½ε² − log σ − ½ log 2π − log(1 − tanh² u), and log(1 − tanh² u) = 2 (log 2 − u − softplus(−2u)).

use offnominal_core::Rng;
use offnominal_nets::{simd, softplus, tanh};
use std::f32::consts::{LN_2, PI};

/// Bounds of log σ.
const LOG_STD: (f32, f32) = (-20.0, 2.0);

/// Actions drawn from the heads of a batch, with what their gradient needs.
#[derive(Debug, Clone)]
pub struct Sample {
    width: usize,
    noise: Vec<f32>,
    /// σ ε
    spread: Vec<f32>,
    /// `[n, width]`, in (−1, 1)
    pub action: Vec<f32>,
    /// log π of each action, `[n]`
    pub log_prob: Vec<f32>,
}

impl Sample {
    /// Room for `n` actions.
    pub fn new(n: usize, width: usize) -> Sample {
        let zeros = || vec![0.0; n * width];
        Sample { width, noise: zeros(), spread: zeros(), action: zeros(), log_prob: vec![0.0; n] }
    }

    /// Draws one action for each row of the head.
    pub fn draw(&mut self, head: &[f32], rng: &mut Rng) {
        rng.fill_normal(&mut self.noise);
        self.squash(head);
    }

    /// Actions and their probabilities for the noise at hand.
    fn squash(&mut self, head: &[f32]) {
        let d = self.width;
        for (i, row) in head.chunks_exact(2 * d).enumerate() {
            let (mean, log_std) = row.split_at(d);
            let mut log_prob = -(0.5 * (2.0 * PI).ln()) * d as f32;
            for j in 0..d {
                let (at, log_std) = (i * d + j, log_std[j].clamp(LOG_STD.0, LOG_STD.1));
                let noise = self.noise[at];
                self.spread[at] = log_std.exp() * noise;
                let u = mean[j] + self.spread[at];
                self.action[at] = u;
                log_prob -= 0.5 * noise * noise + log_std + 2.0 * (LN_2 - u - softplus(-2.0 * u));
            }
            self.log_prob[i] = log_prob;
        }
        simd(
            #[inline(always)]
            || self.action.iter_mut().for_each(|u| *u = tanh(*u)),
        );
    }

    /// Derivatives by the head of Σ weight·log π(a) + L(a), given those of L by the actions.
    pub fn gradient(&self, head: &[f32], weight: f32, d_action: &[f32], d_head: &mut [f32]) {
        let d = self.width;
        for (i, (row, d_row)) in head.chunks_exact(2 * d).zip(d_head.chunks_exact_mut(2 * d)).enumerate() {
            for j in 0..d {
                let at = i * d + j;
                let a = self.action[at];
                let d_u = (1.0 - a * a) * d_action[at] + 2.0 * weight * a;
                let free = (LOG_STD.0..=LOG_STD.1).contains(&row[d + j]);
                d_row[j] = d_u;
                d_row[d + j] = if free { d_u * self.spread[at] - weight } else { 0.0 };
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const D: usize = 3;
    const HEAD: [f32; 12] = [0.3, -1.2, 2.0, -0.5, -3.0, 0.4, -0.1, 0.0, 0.7, -25.0, 5.0, 1.0];

    fn sample() -> Sample {
        let mut sample = Sample::new(2, D);
        sample.draw(&HEAD, &mut Rng::new(4));
        sample
    }

    /// Σ weight·log π + c·a by the definition, in double precision, for fixed noise.
    fn objective(head: &[f64], noise: &[f32], weight: f64, c: &[f32]) -> f64 {
        let term = |at: usize| {
            let (i, j) = (at / D, at % D);
            let (mean, log_std) = (head[i * 2 * D + j], head[i * 2 * D + D + j].clamp(-20.0, 2.0));
            let e = f64::from(noise[at]);
            let u = mean + log_std.exp() * e;
            let log_one_minus = 2.0 * (2.0_f64.ln() - u - (-2.0 * u).exp().ln_1p());
            let log_prob = -0.5 * e * e - log_std - 0.5 * std::f64::consts::TAU.ln() - log_one_minus;
            weight * log_prob + f64::from(c[at]) * u.tanh()
        };
        (0..2 * D).map(term).sum()
    }

    #[test]
    fn density_integrates_to_one() {
        // E[1 / π(a)] over a ~ π is the volume of (−1, 1)², whatever the policy.
        let head: Vec<f32> = [0.2, -0.1, -0.3, 0.1].repeat(200_000);
        let mut sample = Sample::new(200_000, 2);
        sample.draw(&head, &mut Rng::new(1));
        let volume = sample.log_prob.iter().map(|&l| f64::from(-l).exp()).sum::<f64>() / 200_000.0;
        assert!((volume / 4.0 - 1.0).abs() < 0.02, "{volume}");
    }

    #[test]
    fn gradient_passes_a_check_and_vanishes_where_the_deviation_is_cut() {
        let (sample, c, weight) = (sample(), [0.5, -1.0, 2.0, 0.1, 0.3, -0.7], 0.3);
        let mut found = [f32::NAN; 12];
        sample.gradient(&HEAD, weight as f32, &c, &mut found);
        for i in 0..HEAD.len() {
            let moved = |shift: f64| {
                let mut head = HEAD.map(f64::from);
                head[i] += shift;
                objective(&head, &sample.noise, weight, &c)
            };
            let slope = (moved(1e-6) - moved(-1e-6)) / 2e-6;
            assert!((f64::from(found[i]) - slope).abs() < 1e-4, "{i}: expected {slope}, found {}", found[i]);
        }
    }

    #[test]
    fn log_probabilities_follow_the_definition() {
        let sample = sample();
        let want = objective(&HEAD.map(f64::from), &sample.noise, 1.0, &[0.0; 6]);
        let found: f64 = sample.log_prob.iter().map(|&l| f64::from(l)).sum();
        assert!((found - want).abs() < 1e-4 * want.abs(), "{want} {found}");
    }
}
