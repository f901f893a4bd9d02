//! Softmax over planes of logits, in blocks of pixels that the processor's vectors go through together.

use offnominal_nets::{exp, simd};

/// Pixels of a block.
const BLOCK: usize = 128;

/// What a pixel's logits z / T come to: their largest m, Σ e^(z/T − m), and Σ e^(z/T − m) (z/T − m).
#[derive(Debug, Clone, Copy)]
pub(super) struct Sums {
    pub top: f32,
    pub sum: f32,
    pub weighted: f32,
}

impl Sums {
    /// −Σ p ln p.
    #[inline(always)]
    pub fn entropy(self) -> f32 {
        (self.sum.ln() - self.weighted / self.sum).max(0.0)
    }
}

/// Calls `f` with each pixel's sums and writes what it returns. `logits` is `[classes, pixels]`.
pub(super) fn map(logits: &[f32], temperature: f32, scores: &mut [f32], f: impl Fn(Sums) -> f32) {
    let n = scores.len();
    let mut block = [Sums { top: 0.0, sum: 0.0, weighted: 0.0 }; BLOCK];
    for (i, scores) in scores.chunks_mut(BLOCK).enumerate() {
        sums(logits, n, i * BLOCK, 1.0 / temperature, &mut block[..scores.len()]);
        scores.iter_mut().zip(&block).for_each(|(score, sums)| *score = f(*sums));
    }
}

fn sums(logits: &[f32], n: usize, from: usize, scale: f32, block: &mut [Sums]) {
    let (mut top, mut sum, mut weighted) = ([f32::NEG_INFINITY; BLOCK], [0.0_f32; BLOCK], [0.0_f32; BLOCK]);
    let planes = || logits.chunks_exact(n).map(|plane| &plane[from..from + block.len()]);
    simd(
        #[inline(always)]
        || {
            for plane in planes() {
                plane.iter().zip(&mut top).for_each(|(z, top)| *top = top.max(z * scale));
            }
            for plane in planes() {
                for (i, z) in plane.iter().enumerate() {
                    let below = z * scale - top[i];
                    let e = exp(below);
                    sum[i] += e;
                    weighted[i] += e * below;
                }
            }
        },
    );
    for (i, sums) in block.iter_mut().enumerate() {
        *sums = Sums { top: top[i], sum: sum[i], weighted: weighted[i] };
    }
}

/// The probabilities of all classes at a temperature, `[classes, pixels]`.
pub(super) fn probabilities(logits: &[f32], n: usize, temperature: f32, out: &mut [f32]) {
    let mut of_sum = vec![0.0; n];
    let mut top = vec![0.0; n];
    map(logits, temperature, &mut of_sum, |s| s.sum);
    map(logits, temperature, &mut top, |s| s.top);
    let scale = 1.0 / temperature;
    for (z, p) in logits.chunks_exact(n).zip(out.chunks_exact_mut(n)) {
        simd(
            #[inline(always)]
            || (0..n).for_each(|i| p[i] = exp(z[i] * scale - top[i]) / of_sum[i]),
        );
    }
}

/// The class of the largest logit of each pixel, the first of equals. `logits` is `[classes, pixels]`.
pub(super) fn argmax(logits: &[f32], n: usize) -> Vec<u8> {
    let (mut top, mut best) = (logits[..n].to_vec(), vec![0; n]);
    for (class, plane) in logits.chunks_exact(n).enumerate().skip(1) {
        for ((top, best), &z) in top.iter_mut().zip(&mut best).zip(plane) {
            if z > *top {
                (*top, *best) = (z, class as u8);
            }
        }
    }
    best
}
