//! A few numbers of a wide vector, from which it follows how far it is from another one at least.
//!
//! A vector x becomes z = (A (x − m), ‖x − m − Aᵀ A (x − m)‖). m is the mean of the points; the rows of A are
//! orthonormal, along the directions in which the points vary most. Then ‖z − z′‖ ≤ ‖x − x′‖: the first part is a
//! projection, and the lengths of what is left differ by no more than what is left itself.
//!
//! The directions come from orthogonal iteration on some of the points (Golub & Van Loan, section 7.3.2); any orthonormal
//! ones are right, good ones leave fewer points to be compared.

use crate::shared::prelude::*;
use offnominal_nets::simd;

/// Numbers of a summary.
pub(super) const NUMBERS: usize = 32;
/// Directions; the last number is the length of what is left.
const AXES: usize = NUMBERS - 1;
/// Points from which the directions come, at most.
const SAMPLED: usize = 2048;
/// Rounds of the iteration.
const ROUNDS: usize = 4;

/// Takes vectors to summaries.
#[derive(Debug, PartialEq)]
pub(super) struct Summary {
    mean: Vec<f64>,
    /// `[width, NUMBERS]`, the last column zero; columns are orthonormal, or zero where points do not vary.
    axes: Vec<[f64; NUMBERS]>,
}

impl Summary {
    /// Of points, rows of `width` numbers.
    pub fn of(width: usize, points: &[f32]) -> Summary {
        let n = points.len() / width;
        let rows = || points.chunks_exact(width).step_by(n.div_ceil(SAMPLED).max(1));
        let mut mean = vec![0.0; width];
        rows().for_each(|row| mean.iter_mut().zip(row).for_each(|(m, &x)| *m += f64::from(x)));
        let sampled = rows().len().max(1) as f64;
        mean.iter_mut().for_each(|m| *m /= sampled);
        let mut summary = Summary { axes: at_random(width), mean };
        for _ in 0..ROUNDS {
            let mut next = vec![[0.0; NUMBERS]; width];
            rows().for_each(|row| summary.add_product(row, &mut next));
            orthonormalise(&mut next);
            summary.axes = next;
        }
        summary
    }

    /// Adds (x − m) (A (x − m))ᵀ.
    fn add_product(&self, x: &[f32], next: &mut [[f64; NUMBERS]]) {
        let (along, _) = self.project(x);
        for ((next, &x), m) in next.iter_mut().zip(x).zip(&self.mean) {
            next.iter_mut().zip(&along).for_each(|(sum, a)| *sum += (f64::from(x) - m) * a);
        }
    }

    /// A (x − m), and the squared length of x − m.
    fn project(&self, x: &[f32]) -> ([f64; NUMBERS], f64) {
        simd(
            #[inline(always)]
            || {
                let (mut along, mut square) = ([0.0; NUMBERS], 0.0);
                for ((&x, m), axes) in x.iter().zip(&self.mean).zip(&self.axes) {
                    let centred = f64::from(x) - m;
                    square += centred * centred;
                    along.iter_mut().zip(axes).for_each(|(sum, axis)| *sum += centred * axis);
                }
                (along, square)
            },
        )
    }

    /// The summary of a vector.
    pub fn write(&self, x: &[f32], z: &mut [f32; NUMBERS]) {
        let (mut along, square) = self.project(x);
        let explained: f64 = along.iter().map(|a| a * a).sum();
        along[AXES] = (square - explained).max(0.0).sqrt();
        z.iter_mut().zip(along).for_each(|(z, a)| *z = a as f32);
    }
}

fn at_random(width: usize) -> Vec<[f64; NUMBERS]> {
    let mut rng = Rng::new(1);
    let mut row = || std::array::from_fn(|axis| if axis < AXES { rng.normal() } else { 0.0 });
    let mut axes = (0..width).map(|_| row()).collect::<Vec<_>>();
    orthonormalise(&mut axes);
    axes
}

/// Makes columns orthonormal, each twice against those before it, as once is not enough in floating point.
fn orthonormalise(axes: &mut [[f64; NUMBERS]]) {
    let dot =
        |axes: &[[f64; NUMBERS]], i: usize, j: usize| axes.iter().map(|row| row[i] * row[j]).sum::<f64>();
    for i in 0..AXES {
        let before = dot(axes, i, i);
        for j in (0..i).chain(0..i) {
            let along = dot(axes, i, j);
            axes.iter_mut().for_each(|row| row[i] -= along * row[j]);
        }
        let square = dot(axes, i, i);
        let scale = if square > 1e-18 * before { 1.0 / square.sqrt() } else { 0.0 };
        axes.iter_mut().for_each(|row| row[i] *= scale);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn summaries_are_no_farther_apart_than_vectors_and_nearly_as_far_in_few_dimensions() {
        let (width, mut rng) = (100, Rng::new(3));
        for dimensions in [5, 100] {
            let directions: Vec<f64> = (0..dimensions * width).map(|_| rng.normal()).collect();
            let mut points = Vec::new();
            for _ in 0..300 {
                let at: Vec<f64> = (0..dimensions).map(|_| rng.normal()).collect();
                let of =
                    |c: usize| at.iter().enumerate().map(|(d, a)| a * directions[d * width + c]).sum::<f64>();
                points.extend((0..width).map(|c| of(c) as f32));
            }
            let summary = Summary::of(width, &points);
            let [mut a, mut b] = [[0.0; NUMBERS]; 2];
            let (x, rest) = points.split_at(width);
            summary.write(x, &mut a);
            for y in rest.chunks_exact(width) {
                summary.write(y, &mut b);
                let square =
                    |x: &[f32], y: &[f32]| x.iter().zip(y).map(|(x, y)| (x - y).powi(2)).sum::<f32>();
                let (least, true_square) = (square(&a, &b), square(x, y));
                assert!(least <= 1.0001 * true_square, "{least} {true_square}");
                assert!(dimensions > NUMBERS || least > 0.999 * true_square, "{least} {true_square}");
            }
        }
    }

    #[test]
    fn points_that_do_not_vary_have_summaries_without_directions() {
        let summary = Summary::of(70, &[2.0; 700]);
        let mut z = [9.0; NUMBERS];
        summary.write(&[3.0; 70], &mut z);
        assert_eq!(z[..AXES], [0.0; AXES]);
        assert!((z[AXES] - 70_f32.sqrt()).abs() < 1e-5);
    }
}
