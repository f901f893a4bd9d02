//! Bilinear resizing and mean pooling as products with constant matrices: Y = R X Cᵀ.
//!
//! Both act on rows and columns separately and linearly, so their derivatives are products with the transposes:
//! exact, and the same on every device. Pixel centres lie at half integers (`align_corners = false`).

use crate::weights::tensor;
use burn_tensor::Tensor;

/// A matrix `[from, to]`, by rows.
struct Map {
    from: usize,
    to: usize,
    numbers: Vec<f32>,
}

impl Map {
    fn zeros(from: usize, to: usize) -> Map {
        Map { from, to, numbers: vec![0.0; from * to] }
    }

    fn add(&mut self, from: usize, to: usize, weight: f64) {
        self.numbers[from * self.to + to] += weight as f32;
    }

    /// Of bilinear interpolation.
    fn bilinear(from: usize, to: usize) -> Map {
        let mut map = Map::zeros(from, to);
        for i in 0..to {
            let centre = ((i as f64 + 0.5) * from as f64 / to as f64 - 0.5).max(0.0);
            let low = (centre as usize).min(from - 1);
            let share = if low + 1 < from { centre - low as f64 } else { 0.0 };
            map.add(low, i, 1.0 - share);
            if share > 0.0 {
                map.add(low + 1, i, share);
            }
        }
        map
    }

    /// Of means over so many bins, which overlap where the sizes do not divide.
    fn bins(from: usize, to: usize) -> Map {
        let mut map = Map::zeros(from, to);
        for i in 0..to {
            let (start, end) = (i * from / to, ((i + 1) * from).div_ceil(to));
            (start..end).for_each(|j| map.add(j, i, 1.0 / (end - start) as f64));
        }
        map
    }

    /// Maps the last axis.
    fn apply(&self, x: Tensor<4>) -> Tensor<4> {
        let [a, b, c, _] = x.dims();
        let matrix = tensor(self.numbers.clone(), [self.from, self.to], &x.device().inner());
        x.reshape([a * b * c, self.from]).matmul(matrix).reshape([a, b, c, self.to])
    }
}

/// Rows, then columns.
fn both(x: Tensor<4>, rows: &Map, columns: &Map) -> Tensor<4> {
    columns.apply(rows.apply(x.swap_dims(2, 3)).swap_dims(2, 3))
}

/// Resizes `[images, channels, height, width]` bilinearly.
pub fn resize(x: Tensor<4>, to: [usize; 2]) -> Tensor<4> {
    let [_, _, height, width] = x.dims();
    if [height, width] == to {
        x
    } else {
        both(x, &Map::bilinear(height, to[0]), &Map::bilinear(width, to[1]))
    }
}

/// Means over a grid of bins.
pub fn pool(x: Tensor<4>, bins: usize) -> Tensor<4> {
    let [_, _, height, width] = x.dims();
    both(x, &Map::bins(height, bins), &Map::bins(width, bins))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device;
    use crate::weights::numbers;
    use offnominal_core::Rng;

    fn random(shape: [usize; 4], rng: &mut Rng) -> Tensor<4> {
        let values = (0..shape.iter().product()).map(|_| rng.normal() as f32).collect();
        tensor(values, shape, &device::cpu())
    }

    #[test]
    fn pixels_between_two_are_mixed() {
        let two = tensor(vec![0.0, 1.0], [1, 1, 1, 2], &device::cpu());
        assert_eq!(numbers(resize(two, [1, 4])), [0.0, 0.25, 0.75, 1.0]);
        let plane = tensor((0..6).map(|i| i as f32).collect(), [1, 1, 2, 3], &device::cpu());
        assert_eq!(numbers(resize(plane.clone(), [2, 3])), numbers(plane));
    }

    #[test]
    fn bins_are_means_and_overlap_where_they_must() {
        let row = tensor((0..8).map(|i| i as f32).collect(), [1, 1, 1, 8], &device::cpu());
        // Of six bins over eight pixels the second covers pixels 1 and 2, the third 2 and 3.
        let map = Map::bins(8, 6);
        assert_eq!(numbers(map.apply(row)), [0.5, 1.5, 3.0 - 0.5, 4.5, 5.5, 6.5]);
        let plane = tensor(vec![1.0, 2.0, 3.0, 6.0], [1, 1, 2, 2], &device::cpu());
        assert_eq!(numbers(pool(plane, 1)), [3.0]);
    }

    /// ⟨A x, g⟩ = ⟨x, Aᵀ g⟩: the derivative of a linear map is its transpose.
    #[test]
    fn derivatives_are_transposes() {
        let mut rng = Rng::new(1);
        let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| f64::from(a * b)).sum::<f64>();
        let maps: [fn(Tensor<4>) -> Tensor<4>; 4] =
            [|x| resize(x, [9, 20]), |x| resize(x, [3, 4]), |x| pool(x, 3), |x| pool(x, 6)];
        for map in maps {
            let x = Tensor::from_inner(random([2, 3, 5, 7], &mut rng)).require_grad();
            let y = map(x.clone());
            let g = random(y.dims(), &mut rng);
            let gradients = (y.clone() * g.clone()).sum().backward();
            let back = numbers(x.grad(&gradients).unwrap());
            let (there, here) = (dot(&numbers(y.inner()), &numbers(g)), dot(&numbers(x.inner()), &back));
            assert!((there - here).abs() < 1e-4 * there.abs().max(1.0), "{there} and {here}");
        }
    }
}
