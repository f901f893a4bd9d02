//! A frame as a whole in few numbers: the leading principal components of its patches.
//!
//! With the patches x of a frame as one vector, the mean m of nominal frames and their k leading axes A (orthonormal rows),
//! y = A (x − m). The axes come from orthogonal iteration on a sample of frames (Golub and Van Loan, Matrix Computations,
//! section 7.3); where a sample varies in fewer directions there are fewer axes.

use offnominal_core::Rng;

/// Axes, at most.
const AXES: usize = 24;
/// Rounds of the iteration.
const ROUNDS: usize = 12;
/// An axis counts as new if so much of it is left once the others are taken from it.
const NEW: f32 = 1e-4;

/// The axes of nominal frames.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Components {
    mean: Vec<f32>,
    /// `[k, n]`, orthonormal.
    axes: Vec<f32>,
}

impl Components {
    /// Of frames `[m, n]`, at least one; none where a frame has no numbers.
    pub fn fit(frames: &[f32], n: usize) -> Components {
        let (m, n) = (frames.len() / n.max(1), n.max(1));
        let mut mean = vec![0.0; n];
        for frame in frames.chunks_exact(n) {
            mean.iter_mut().zip(frame).for_each(|(sum, x)| *sum += x / m as f32);
        }
        let centred: Vec<f32> = frames.chunks_exact(n).flat_map(|frame| centred(frame, &mean)).collect();
        let k = AXES.min(m.saturating_sub(1)).min(n);
        // Where the iteration begins is of no consequence, so it takes nothing from the caller's numbers.
        let mut rng = Rng::new(0);
        let mut axes: Vec<f32> = (0..k * n).map(|_| rng.normal() as f32).collect();
        for _ in 0..ROUNDS {
            orthonormalise(&mut axes, n);
            axes = multiplied(&centred, &axes, n);
        }
        let k = orthonormalise(&mut axes, n);
        axes.truncate(k * n);
        Components { mean, axes }
    }

    /// The components of a frame `[n]`, the leading one first.
    pub fn of(&self, frame: &[f32]) -> Vec<f32> {
        let centred: Vec<f32> = centred(frame, &self.mean).collect();
        self.axes.chunks_exact(self.mean.len()).map(|axis| dot(axis, &centred)).collect()
    }
}

fn centred<'a>(frame: &'a [f32], mean: &'a [f32]) -> impl Iterator<Item = f32> + 'a {
    frame.iter().zip(mean).map(|(x, m)| x - m)
}

/// Σ aᵢ bᵢ in eight sums, which the compiler makes one instruction of.
fn dot(a: &[f32], b: &[f32]) -> f32 {
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<8>(), b.as_chunks::<8>());
    let mut sums = [0.0_f32; 8];
    for (a, b) in a.iter().zip(b) {
        (0..8).for_each(|i| sums[i] += a[i] * b[i]);
    }
    sums.iter().sum::<f32>() + a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum::<f32>()
}

/// Each axis a times the second moments of centred frames: Σ f (fᵀ a).
fn multiplied(frames: &[f32], axes: &[f32], n: usize) -> Vec<f32> {
    let mut out = vec![0.0; axes.len()];
    for frame in frames.chunks_exact(n) {
        for (axis, out) in axes.chunks_exact(n).zip(out.chunks_exact_mut(n)) {
            let y = dot(axis, frame);
            out.iter_mut().zip(frame).for_each(|(o, x)| *o += y * x);
        }
    }
    out
}

/// Makes rows orthonormal by Gram and Schmidt, twice against rounding; returns how many were not zero, which come first.
fn orthonormalise(rows: &mut [f32], n: usize) -> usize {
    let mut kept = 0;
    for i in 0..rows.len() / n {
        rows.copy_within(i * n..(i + 1) * n, kept * n);
        let (before, row) = rows.split_at_mut(kept * n);
        let row = &mut row[..n];
        let whole = dot(row, row).sqrt();
        for axis in before.chunks_exact(n).chain(before.chunks_exact(n)) {
            let y = dot(axis, row);
            row.iter_mut().zip(axis).for_each(|(r, a)| *r -= y * a);
        }
        let norm = dot(row, row).sqrt();
        if norm > NEW * whole {
            row.iter_mut().for_each(|r| *r /= norm);
            kept += 1;
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Frames that vary with deviations 3 and 1 along two known directions, and not else.
    #[test]
    fn the_directions_of_the_sample_come_back_in_order() {
        let mut rng = Rng::new(1);
        let directions = [[0.6, 0.8, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0, 0.0]];
        let mut frame = || {
            let [a, b] = [3.0 * rng.normal(), rng.normal()];
            let at = |j: usize| (7.0 + a * directions[0][j] + b * directions[1][j]) as f32;
            (0..5).map(at).collect::<Vec<f32>>()
        };
        let frames: Vec<f32> = (0..400).flat_map(|_| frame()).collect();
        let components = Components::fit(&frames, 5);
        assert_eq!(components.axes.len(), 2 * 5);
        for (axis, direction) in components.axes.chunks_exact(5).zip(directions) {
            let cosine: f64 = axis.iter().zip(direction).map(|(a, d)| f64::from(*a) * d).sum();
            assert!(cosine.abs() > 0.99, "{axis:?}");
        }
        let found = components.of(&[7.0 + 3.0 * 0.6, 7.0 + 3.0 * 0.8, 7.0, 7.0, 7.0]);
        assert!((found[0].abs() - 3.0).abs() < 0.4 && found[1].abs() < 0.4, "{found:?}");
    }

    #[test]
    fn frames_that_are_all_alike_have_no_axes() {
        for m in [1, 3] {
            let components = Components::fit(&vec![2.0; m * 6], 6);
            assert!(components.of(&[1.0; 6]).is_empty());
        }
        assert!(Components::fit(&[], 0).of(&[]).is_empty());
    }
}
