//! The three matrix products of a dense layer, row-major.
//!
//! With x `[m, k]`, w `[k, n]` and y `[m, n]`:
//!
//! | product | meaning |
//! |---|---|
//! | [`forward`] | y = leaky(bias + x·w) |
//! | [`to_input`] | dx = dy·wᵀ |
//! | [`to_weights`] | dw = xᵀ·dy |
//!
//! Every output is one chain of fused multiply-adds over the inner index, in order, that starts at the bias or at zero.
//! The order does not depend on the batch, the position in the batch or the number of lanes.

#[cfg(any(target_family = "wasm", test))]
mod exact;
mod pack;
mod packed;
mod rows;
mod tile;

pub use pack::Pack;
pub use packed::Packed;
use pulp::Arch;
use rows::Rows;
use tile::{Left, Product, Right};

/// Batches below this size go row by row: packing the weights would cost more than it saves.
const SMALL_BATCH: usize = 6;

/// y = leaky(bias + x·w): leaky(v) = max(v, slope·v), so slope 1 is the identity and slope 0 the rectifier.
pub fn forward(x: &[f32], w: &[f32], bias: &[f32], slope: f32, y: &mut [f32], pack: &mut Pack) {
    let n = bias.len();
    let (m, k) = (y.len() / n, w.len() / n);
    assert_eq!((x.len(), w.len(), y.len()), (m * k, k * n, m * n), "shapes of a dense layer");
    if m < SMALL_BATCH && cfg!(not(target_family = "wasm")) {
        return Arch::new().dispatch(Rows { x, w, bias, slope, y, k });
    }
    let (a, b) = (Left::Rows(x), Right::Rows(w));
    run(Product { a, b, bias: Some(bias), slope, c: y, m, k, n, pack });
}

/// dx = dy·wᵀ, where w has one row for each column of dx.
pub fn to_input(dy: &[f32], w: &[f32], n: usize, dx: &mut [f32], pack: &mut Pack) {
    let (m, k) = (dy.len() / n, w.len() / n);
    assert_eq!((dy.len(), w.len(), dx.len()), (m * n, k * n, m * k), "shapes of a dense layer");
    let (a, b) = (Left::Rows(dy), Right::Columns(w));
    run(Product { a, b, bias: None, slope: 1.0, c: dx, m, k: n, n: k, pack });
}

/// dw = xᵀ·dy, where n is the width of dy.
pub fn to_weights(x: &[f32], dy: &[f32], n: usize, dw: &mut [f32], pack: &mut Pack) {
    let (m, k) = (dy.len() / n, dw.len() / n);
    assert_eq!((x.len(), dy.len(), dw.len()), (m * k, m * n, k * n), "shapes of a dense layer");
    let (a, b) = (Left::Columns(x), Right::Rows(dy));
    run(Product { a, b, bias: None, slope: 1.0, c: dw, m: k, k: m, n, pack });
}

/// Computes a product by the widest vector instructions, or by a detour where none of them multiplies and adds at once.
fn run(product: Product<'_>) {
    #[cfg(not(target_family = "wasm"))]
    Arch::new().dispatch(product);
    #[cfg(target_family = "wasm")]
    exact::run(product);
}

#[cfg(test)]
mod tests {
    use super::*;
    use offnominal_core::Rng;
    use pulp::{Scalar, Simd, WithSimd};

    fn normals(n: usize, seed: u64) -> Vec<f32> {
        let mut out = vec![0.0; n];
        Rng::new(seed).fill_normal(&mut out);
        out
    }

    /// Shapes around the borders of tiles, panels and lanes.
    const SHAPES: [(usize, usize, usize); 10] = [
        (1, 1, 1),
        (1, 24, 512),
        (3, 17, 25),
        (5, 300, 129),
        (6, 4, 31),
        (8, 16, 32),
        (13, 33, 50),
        (40, 65, 97),
        (64, 2, 12),
        (256, 23, 256),
    ];

    fn assert_close(found: &[f32], want: impl Fn(usize) -> f64, what: &str) {
        for (i, &v) in found.iter().enumerate() {
            let truth = want(i);
            assert!((f64::from(v) - truth).abs() < 2e-4 * (1.0 + truth.abs()), "{what}[{i}]: {truth} {v}");
        }
    }

    fn dot(len: usize, term: impl Fn(usize) -> (f32, f32)) -> f64 {
        (0..len).map(term).map(|(a, b)| f64::from(a) * f64::from(b)).sum()
    }

    #[test]
    fn products_agree_with_their_definitions() {
        let mut pack = Pack::default();
        for (m, k, n) in SHAPES {
            let (x, w, bias, dy) = (normals(m * k, 1), normals(k * n, 2), normals(n, 3), normals(m * n, 4));
            let (mut y, mut dx, mut dw) =
                (vec![f32::NAN; m * n], vec![f32::NAN; m * k], vec![f32::NAN; k * n]);
            forward(&x, &w, &bias, 1.0, &mut y, &mut pack);
            to_input(&dy, &w, n, &mut dx, &mut pack);
            to_weights(&x, &dy, n, &mut dw, &mut pack);
            let what = format!("{m} {k} {n}");
            let forward =
                |i: usize| dot(k, |p| (x[i / n * k + p], w[p * n + i % n])) + f64::from(bias[i % n]);
            assert_close(&y, forward, &what);
            assert_close(&dx, |i| dot(n, |p| (dy[i / k * n + p], w[i % k * n + p])), &what);
            assert_close(&dw, |i| dot(m, |p| (x[p * k + i / n], dy[p * n + i % n])), &what);
        }
    }

    #[test]
    fn a_row_has_the_same_bits_in_every_batch() {
        let mut pack = Pack::default();
        for (m, k, n) in SHAPES {
            let (x, w, bias) = (normals(m * k, 1), normals(k * n, 2), normals(n, 3));
            let mut batch = vec![0.0; m * n];
            forward(&x, &w, &bias, 0.01, &mut batch, &mut pack);
            let mut row = vec![0.0; n];
            for i in 0..m {
                forward(&x[i * k..][..k], &w, &bias, 0.01, &mut row, &mut pack);
                assert_eq!(row, batch[i * n..][..n], "row {i} of {m} {k} {n}");
            }
        }
    }

    fn product_with(run: impl Fn(Product<'_>), (m, k, n): (usize, usize, usize)) -> Vec<f32> {
        let (x, w) = (normals(m * k, 1), normals(k * n, 2));
        let (mut c, mut pack) = (vec![0.0; m * n], Pack::default());
        let (a, b) = (Left::Rows(&x), Right::Rows(&w));
        run(Product { a, b, bias: None, slope: 0.0, c: &mut c, m, k, n, pack: &mut pack });
        c
    }

    #[test]
    fn the_number_of_lanes_changes_no_bit() {
        for shape in SHAPES {
            let widest = product_with(|p| Arch::new().dispatch(p), shape);
            assert_eq!(product_with(|p| p.with_simd(Scalar), shape), widest, "{shape:?}");
            #[cfg(target_arch = "x86_64")]
            if let Some(simd) = pulp::x86::V3::try_new() {
                assert_eq!(product_with(|p| Simd::vectorize(simd, p), shape), widest, "{shape:?}");
            }
        }
    }
}
