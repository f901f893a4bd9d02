//! The contrastive loss: what comes after a context against what is drawn from the same sequence.
//!
//! ℒ = mean over k and i of softplus(−z_{i+k}·h_k(c_i)) + λ mean over negatives of softplus(z̃·h_k(c_i)), which is
//! −log σ(z·h) − λ E log σ(−z̃·h) (equation 2).

use offnominal_core::Rng;
use offnominal_nets::{sigmoid, simd, softplus};

/// The shapes of a batch.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shape {
    pub sequences: usize,
    /// Encoded states of a sequence.
    pub tokens: usize,
    /// Contexts of a sequence; context i has seen tokens up to i + `behind`.
    pub contexts: usize,
    pub behind: usize,
    /// Numbers of a token.
    pub width: usize,
    /// How many tokens ahead are predicted.
    pub ahead: usize,
}

impl Shape {
    /// Calls `visit` with sequence, k, the place of the prediction and the token that follows, for every pair there is.
    pub(crate) fn pairs(&self, mut visit: impl FnMut(usize, usize, usize, usize)) {
        for s in 0..self.sequences {
            for i in 0..self.contexts {
                for k in 1..=self.ahead.min(self.tokens.saturating_sub(i + self.behind + 1)) {
                    let prediction = ((s * self.contexts + i) * self.ahead + k - 1) * self.width;
                    visit(s, k, prediction, (s * self.tokens + i + self.behind + k) * self.width);
                }
            }
        }
    }

    pub(crate) fn n_pairs(&self) -> usize {
        let mut n = 0;
        self.pairs(|_, _, _, _| n += 1);
        n
    }
}

/// How hard the task is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Hardness {
    pub negatives: usize,
    pub weight: f32,
}

/// The loss, with the derivatives by tokens and predictions, which are overwritten.
pub(crate) fn loss(
    shape: Shape,
    tokens: &[f32],
    predictions: &[f32],
    hardness: Hardness,
    (d_tokens, d_predictions): (&mut [f32], &mut [f32]),
    rng: &mut Rng,
) -> f64 {
    d_tokens.fill(0.0);
    d_predictions.fill(0.0);
    let scale = 1.0 / shape.n_pairs().max(1) as f32;
    let (mut sum, width) = (0.0, shape.width);
    shape.pairs(|s, _, at, positive| {
        let h = &predictions[at..at + width];
        let d_h = &mut d_predictions[at..at + width];
        let mut compare = |token: usize, sign: f32, weight: f32| {
            let z = &tokens[token..token + width];
            let score = dot(z, h);
            sum += f64::from(weight * softplus(-sign * score));
            let slope = -sign * weight * sigmoid(-sign * score) * scale;
            add(d_h, slope, z);
            add(&mut d_tokens[token..token + width], slope, h);
        };
        compare(positive, 1.0, 1.0);
        for _ in 0..hardness.negatives {
            let token = (s * shape.tokens + rng.below(shape.tokens)) * width;
            compare(token, -1.0, hardness.weight / hardness.negatives as f32);
        }
    });
    sum * f64::from(scale)
}

pub(crate) fn dot(a: &[f32], b: &[f32]) -> f32 {
    const LANES: usize = 16;
    simd(
        #[inline(always)]
        || {
            let mut sums = [0.0_f32; LANES];
            let (a, b) = (a.chunks_exact(LANES), b.chunks_exact(LANES));
            let rest: f32 = a.remainder().iter().zip(b.remainder()).map(|(x, y)| x * y).sum();
            for (x, y) in a.zip(b) {
                (0..LANES).for_each(|l| sums[l] += x[l] * y[l]);
            }
            rest + sums.iter().sum::<f32>()
        },
    )
}

fn add(into: &mut [f32], factor: f32, from: &[f32]) {
    simd(
        #[inline(always)]
        || into.iter_mut().zip(from).for_each(|(a, b)| *a += factor * b),
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHAPE: Shape = Shape { sequences: 2, tokens: 6, contexts: 4, behind: 2, width: 3, ahead: 2 };

    fn numbers(n: usize, by: f32) -> Vec<f32> {
        (0..n).map(|i| (i as f32 * by).sin()).collect()
    }

    #[test]
    fn every_pair_looks_ahead_within_its_sequence() {
        // Contexts 0 to 2 have seen tokens up to 2, 3, 4; the last one has seen them all.
        assert_eq!(SHAPE.n_pairs(), 2 * (2 + 2 + 1));
        SHAPE.pairs(|s, k, _, token| assert!(token / 3 >= s * 6 + 2 + k && token / 3 < (s + 1) * 6));
    }

    #[test]
    fn derivatives_are_those_of_differences() {
        let hardness = Hardness { negatives: 3, weight: 10.0 };
        let (tokens, predictions) = (numbers(36, 0.7), numbers(48, 1.1));
        let value = |tokens: &[f32], predictions: &[f32]| {
            let (mut a, mut b) = (vec![0.0; 36], vec![0.0; 48]);
            let sum = loss(SHAPE, tokens, predictions, hardness, (&mut a, &mut b), &mut Rng::new(3));
            (sum, a, b)
        };
        let (_, d_tokens, d_predictions) = value(&tokens, &predictions);
        for i in 0..48 {
            let moved = |by: f32| {
                let (mut t, mut p) = (tokens.clone(), predictions.clone());
                if i < 36 {
                    t[i] += by
                } else {
                    p[i - 20] += by
                };
                value(&t, &p).0
            };
            let wanted = (moved(1e-2) - moved(-1e-2)) / 2e-2;
            let found = f64::from(if i < 36 { d_tokens[i] } else { d_predictions[i - 20] });
            assert!((found - wanted).abs() < 1e-3, "{i}: expected {wanted}, found {found}");
        }
    }
}
