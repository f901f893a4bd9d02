//! The contrastive loss: what comes after a context against what is drawn from the same sequence.
//!
//! ℒ = mean over k and i of softplus(−z_{i+k}·h_k(c_i)) + λ mean over negatives of softplus(z̃·h_k(c_i)), which is
//! −log σ(z·h) − λ E log σ(−z̃·h) (equation 2). The negatives belong to the token that follows, so that all k see the
//! same, as in wav2vec; and what they are compared with lies side by side in fast memory.

use offnominal_core::Rng;
use offnominal_nets::{exp, simd};
use std::array::from_fn;

/// Numbers that are summed side by side; the width of a token is a multiple.
const LANES: usize = 16;

/// The shapes of a batch.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shape {
    pub sequences: usize,
    /// Encoded states of a sequence.
    pub tokens: usize,
    /// Contexts of a sequence; context i has seen tokens up to i + `behind`.
    pub contexts: usize,
    pub behind: usize,
    /// How many tokens ahead are predicted.
    pub ahead: usize,
}

impl Shape {
    /// The k for which some context predicts a token of a sequence; the context is then `token − behind − k`.
    pub(crate) fn reaching(&self, token: usize) -> impl Iterator<Item = usize> {
        let (behind, contexts) = (self.behind, self.contexts);
        (1..=self.ahead).filter(move |k| token >= behind + k && token - behind - k < contexts)
    }

    /// The place of the prediction of a token by k, among those of its sequence.
    pub(crate) fn prediction(&self, token: usize, k: usize) -> usize {
        (token - self.behind - k) * self.ahead + k - 1
    }

    /// Predictions that have something to be compared with.
    pub(crate) fn n_pairs(&self) -> usize {
        self.sequences * (0..self.tokens).map(|token| self.reaching(token).count()).sum::<usize>()
    }
}

/// What predictions are compared with.
pub(crate) struct Task {
    /// Negatives of each token, as places in its sequence.
    negatives: Vec<usize>,
    /// Negatives of a token.
    n: usize,
    /// λ.
    weight: f32,
}

/// How hard the task is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Hardness {
    pub negatives: usize,
    pub weight: f32,
}

impl Task {
    /// Draws the negatives of a batch.
    pub(crate) fn draw(shape: Shape, hardness: Hardness, rng: &mut Rng) -> Task {
        let n = shape.sequences * shape.tokens * hardness.negatives;
        let negatives = (0..n).map(|_| rng.below(shape.tokens)).collect();
        Task { negatives, n: hardness.negatives, weight: hardness.weight }
    }
}

/// The sum of the losses of the sequences from `first` on, as many as there are predictions, times `scale`; the
/// derivatives by tokens are added, and those by predictions overwritten.
pub(crate) fn loss<const W: usize>(
    shape: Shape,
    (first, scale): (usize, f32),
    tokens: &[f32],
    predictions: &[f32],
    task: &Task,
    (d_tokens, d_predictions): (&mut [f32], &mut [f32]),
) -> f64 {
    const { assert!(W.is_multiple_of(LANES)) };
    let (many, few) = (shape.contexts * shape.ahead, shape.tokens);
    let sequences = predictions.as_chunks::<W>().0.chunks_exact(many);
    let slopes = d_predictions.as_chunks_mut::<W>().0.chunks_exact_mut(many);
    let (tokens, d_tokens) = (tokens.as_chunks::<W>().0, d_tokens.as_chunks_mut::<W>().0);
    let pairs = tokens.chunks_exact(few).zip(d_tokens.chunks_exact_mut(few)).skip(first);
    let mut bench = Bench::new(task, scale);
    let mut sum = 0.0;
    for (i, ((h, d_h), (z, d_z))) in sequences.zip(slopes).zip(pairs).enumerate() {
        d_h.as_flattened_mut().fill(0.0);
        for token in 0..few {
            let at = ((first + i) * few + token) * task.n;
            bench
                .places
                .splice(.., std::iter::once(token).chain(task.negatives[at..at + task.n].iter().copied()));
            bench.ks.splice(.., shape.reaching(token));
            let places = shape;
            sum += simd(
                #[inline(always)]
                || bench.compare::<W>(|k| places.prediction(token, k), (z, d_z), (h, d_h)),
            );
        }
    }
    sum * f64::from(scale)
}

/// One token and its negatives, with the predictions that reach it.
struct Bench {
    /// The token, then its negatives.
    places: Vec<usize>,
    ks: Vec<usize>,
    /// Scores, and then slopes, of all of them for each k.
    scores: Vec<f32>,
    /// λ / n, and the factor of all slopes.
    weight: f32,
    scale: f32,
}

impl Bench {
    fn new(task: &Task, scale: f32) -> Bench {
        let weight = task.weight / task.n.max(1) as f32;
        Bench { places: vec![], ks: vec![], scores: vec![], weight, scale }
    }

    #[inline(always)]
    fn compare<const W: usize>(
        &mut self,
        prediction: impl Fn(usize) -> usize,
        (z, d_z): (&[[f32; W]], &mut [[f32; W]]),
        (h, d_h): (&[[f32; W]], &mut [[f32; W]]),
    ) -> f64 {
        let each = self.places.len();
        self.scores.clear();
        for &k in &self.ks {
            let h = &h[prediction(k)];
            // A loop, as the adaptors of iterators are not compiled for the widest instructions.
            for &place in &self.places {
                self.scores.push(dot(&z[place], h));
            }
        }
        let sum = self.turn_scores();
        for (&k, slopes) in self.ks.iter().zip(self.scores.chunks_exact(each)) {
            let at = prediction(k);
            let mut d = [0.0; W];
            for (&place, &slope) in self.places.iter().zip(slopes) {
                add(&mut d, slope, &z[place]);
                add(&mut d_z[place], slope, &h[at]);
            }
            d_h[at] = d;
        }
        sum
    }

    /// Puts the derivative of the loss by each score in its place, and returns the loss.
    #[inline(always)]
    fn turn_scores(&mut self) -> f64 {
        let each = self.places.len();
        // softplus(x) = max(x, 0) + ln(1 + e^−|x|); the logarithm of a product replaces the sum of logarithms.
        let (mut above, mut product) = ([0.0_f64; 2], [1.0_f64; 2]);
        for (i, score) in self.scores.iter_mut().enumerate() {
            let negative = !i.is_multiple_of(each);
            let x = if negative { *score } else { -*score };
            let small = exp(-x.abs());
            above[usize::from(negative)] += f64::from(x.max(0.0));
            product[usize::from(negative)] *= f64::from(1.0 + small);
            let likely = if x >= 0.0 { 1.0 } else { small } / (1.0 + small);
            *score = likely * self.scale * if negative { self.weight } else { -1.0 };
        }
        let [positive, negative] = from_fn(|i| above[i] + product[i].ln());
        positive + f64::from(self.weight) * negative
    }
}

#[inline(always)]
pub(crate) fn dot<const W: usize>(a: &[f32; W], b: &[f32; W]) -> f32 {
    let mut sums = [0.0_f32; LANES];
    for (x, y) in a.as_chunks::<LANES>().0.iter().zip(b.as_chunks::<LANES>().0) {
        for l in 0..LANES {
            sums[l] = x[l].mul_add(y[l], sums[l]);
        }
    }
    let mut half = LANES / 2;
    while half > 0 {
        for l in 0..half {
            sums[l] += sums[l + half];
        }
        half /= 2;
    }
    sums[0]
}

#[inline(always)]
fn add<const W: usize>(into: &mut [f32; W], factor: f32, from: &[f32; W]) {
    for (a, b) in into.iter_mut().zip(from) {
        *a = factor.mul_add(*b, *a);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHAPE: Shape = Shape { sequences: 2, tokens: 6, contexts: 4, behind: 2, ahead: 2 };
    const HARDNESS: Hardness = Hardness { negatives: 3, weight: 10.0 };
    const TOKENS: usize = 2 * 6 * LANES;
    const PREDICTIONS: usize = 2 * 4 * 2 * LANES;

    fn numbers(n: usize, by: f32) -> Vec<f32> {
        (0..n).map(|i| (i as f32 * by).sin()).collect()
    }

    #[test]
    fn every_prediction_meets_what_follows_in_its_sequence() {
        // Contexts 0 to 2 have seen tokens up to 2, 3, 4; the last one has seen them all.
        assert_eq!(SHAPE.n_pairs(), 2 * (2 + 2 + 1));
        let reaching = |token| SHAPE.reaching(token).collect::<Vec<_>>();
        assert_eq!((reaching(2), reaching(3), reaching(5)), (vec![], vec![1], vec![1, 2]));
        assert_eq!(SHAPE.prediction(5, 2), 3, "context 1, the second of its predictions");
    }

    /// The loss of both sequences together, or of one after the other.
    fn value(tokens: &[f32], predictions: &[f32], task: &Task, at_once: bool) -> (f64, Vec<f32>, Vec<f32>) {
        let (mut d_tokens, mut d_predictions) = (vec![0.0; TOKENS], vec![f32::NAN; PREDICTIONS]);
        let scale = 1.0 / SHAPE.n_pairs() as f32;
        let (parts, size) = if at_once { (1, PREDICTIONS) } else { (2, PREDICTIONS / 2) };
        let sum = (0..parts).map(|i| {
            let part = i * size..(i + 1) * size;
            let slopes = (&mut d_tokens[..], &mut d_predictions[part.clone()]);
            loss::<LANES>(SHAPE, (i, scale), tokens, &predictions[part], task, slopes)
        });
        (sum.sum(), d_tokens, d_predictions)
    }

    #[test]
    fn the_loss_is_that_of_its_definition() {
        let task = Task::draw(SHAPE, HARDNESS, &mut Rng::new(3));
        let (tokens, predictions) = (numbers(TOKENS, 0.7), numbers(PREDICTIONS, 1.1));
        let row = |of: &[f32], i: usize| of[i * LANES..(i + 1) * LANES].to_vec();
        let softplus = |x: f64| (1.0 + x.exp()).ln();
        let mut wanted = 0.0;
        for (s, token) in (0..2).flat_map(|s| (0..6).map(move |token| (s, token))) {
            for k in SHAPE.reaching(token) {
                let h = row(&predictions, s * 8 + SHAPE.prediction(token, k));
                let score = |place: usize| -> f64 {
                    let z = row(&tokens, s * 6 + place);
                    z.iter().zip(&h).map(|(a, b)| f64::from(a * b)).sum()
                };
                let at = (s * 6 + token) * 3;
                let others = task.negatives[at..at + 3].iter().map(|&n| softplus(score(n))).sum::<f64>();
                wanted += (softplus(-score(token)) + 10.0 / 3.0 * others) / 10.0;
            }
        }
        let found = value(&tokens, &predictions, &task, true);
        assert!((found.0 - wanted).abs() < 1e-5 * wanted, "expected {wanted}, found {}", found.0);
        let parts = value(&tokens, &predictions, &task, false);
        assert!((found.0 - parts.0).abs() < 1e-9 && (found.1, found.2) == (parts.1, parts.2));
    }

    #[test]
    fn derivatives_are_those_of_differences() {
        let task = Task::draw(SHAPE, HARDNESS, &mut Rng::new(3));
        let (tokens, predictions) = (numbers(TOKENS, 0.7), numbers(PREDICTIONS, 1.1));
        let (_, d_tokens, d_predictions) = value(&tokens, &predictions, &task, true);
        for i in (0..TOKENS + PREDICTIONS).step_by(7) {
            let moved = |by: f32| {
                let (mut t, mut p) = (tokens.clone(), predictions.clone());
                if i < TOKENS {
                    t[i] += by
                } else {
                    p[i - TOKENS] += by
                };
                value(&t, &p, &task, true).0
            };
            let wanted = (moved(1e-2) - moved(-1e-2)) / 2e-2;
            let found = f64::from(if i < TOKENS { d_tokens[i] } else { d_predictions[i - TOKENS] });
            assert!((found - wanted).abs() < 1e-3, "{i}: expected {wanted}, found {found}");
        }
    }
}
