//! A factor that serves many products one after the other, such as the recurrent weights at every step of a sequence.

use super::tile::{Left, Packing, Product, Right};
use super::{Pack, SMALL_BATCH};
use pulp::Arch;

/// A right factor `[k, n]`, packed once.
#[derive(Debug, Clone, Default)]
pub struct Packed {
    panels: Vec<f32>,
    k: usize,
    n: usize,
}

impl Packed {
    /// Whether packing pays for so many products with batches of that size.
    pub fn pays(batch: usize, products: usize) -> bool {
        batch >= SMALL_BATCH && products > 1
    }

    /// Packs w `[k, n]`, for products x·w.
    pub fn set(&mut self, w: &[f32], n: usize) {
        self.fill(Right::Rows(w), w.len() / n, n);
    }

    /// Packs the transpose of w `[n, k]`, for products dy·wᵀ; `k` is the width of dy.
    pub fn set_transposed(&mut self, w: &[f32], k: usize) {
        self.fill(Right::Columns(w), k, w.len() / k);
    }

    fn fill(&mut self, b: Right<'_>, k: usize, n: usize) {
        (self.k, self.n) = (k, n);
        Arch::new().dispatch(Packing { b, k, n, to: &mut self.panels });
    }

    /// y = bias + x·w, with the bits that the product without packing has; no bias is zero.
    ///
    /// # Panics
    /// If the shapes do not fit.
    pub fn product(&self, x: &[f32], bias: Option<&[f32]>, y: &mut [f32], pack: &mut Pack) {
        let (k, n, m) = (self.k, self.n, y.len() / self.n);
        assert_eq!((x.len(), y.len()), (m * k, m * n), "shapes of a product");
        let (a, b) = (Left::Rows(x), Right::Packed(&self.panels));
        Arch::new().dispatch(Product { a, b, bias, slope: 1.0, c: y, m, k, n, pack });
    }
}

#[cfg(test)]
mod tests {
    use super::super::{forward, to_input};
    use super::*;
    use offnominal_core::Rng;

    #[test]
    fn packing_before_changes_no_bit() {
        let (mut packed, mut pack, mut rng) = (Packed::default(), Pack::default(), Rng::new(1));
        for (m, k, n) in [(1, 3, 5), (8, 256, 1024), (7, 33, 50), (13, 20, 16), (6, 5, 97)] {
            let [x, w, bias, dy] = [m * k, k * n, n, m * n].map(|len| {
                let mut values = vec![0.0; len];
                rng.fill_normal(&mut values);
                values
            });
            let (mut y, mut again) = (vec![0.0; m * n], vec![f32::NAN; m * n]);
            forward(&x, &w, &bias, 1.0, &mut y, &mut pack);
            packed.set(&w, n);
            packed.product(&x, Some(&bias), &mut again, &mut pack);
            assert_eq!(again, y, "{m} {k} {n}");
            let (mut dx, mut again) = (vec![0.0; m * k], vec![f32::NAN; m * k]);
            to_input(&dy, &w, n, &mut dx, &mut pack);
            packed.set_transposed(&w, n);
            packed.product(&dy, None, &mut again, &mut pack);
            assert_eq!(again, dx, "{m} {k} {n}, back");
        }
    }
}
