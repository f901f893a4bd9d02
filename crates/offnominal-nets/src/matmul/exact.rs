//! Products where no instruction multiplies and adds with one rounding, as in WebAssembly: the same bits by a detour.
//!
//! A product of two `f32` is exact in `f64`. Its sum with a third one is rounded to 53 bits and then to 24, which is once too
//! often only if the first rounding ends halfway between two `f32`, or if the result has fewer than 24 bits. Both can be seen
//! in the sum. Where it is seen in a block of columns, which is rare, the block is computed again, slowly.

use super::pack;
use super::tile::{Left, Product, Right};
use pulp::Arch;

/// Bits of an `f64` that an `f32` does not have.
const LOST: u64 = (1 << 29) - 1;
/// How they look halfway between two `f32`.
const HALFWAY: u64 = 1 << 28;

/// c = leaky(bias + a·b).
pub fn run(product: Product<'_>) {
    let Product { a, b, bias, slope, c, m, k, n, pack } = product;
    let b = match b {
        Right::Rows(b) => b,
        Right::Columns(b) => transposed(b, [k, n], pack::reserve(&mut pack.right, k * n)),
        Right::Packed(_) => {
            return Arch::new().dispatch(Product { a, b, bias, slope, c, m, k, n, pack });
        }
    };
    for (i, row) in c.chunks_exact_mut(n).enumerate() {
        let factors = |p: usize| match a {
            Left::Rows(a) => a[i * k + p],
            Left::Columns(a) => a[p * m + i],
        };
        let mut first = 0;
        while first < n {
            let at = Columns { b, n, k, first, bias };
            let to = &mut row[first..];
            // So many columns are translated to instructions on vectors.
            first += match to.len() {
                16.. => at.write::<16>(factors, to),
                4.. => at.write::<4>(factors, to),
                _ => at.write::<1>(factors, to),
            };
        }
        row.iter_mut().for_each(|v| *v = v.max(*v * slope));
    }
}

/// Writes b `[n, k]` as `[k, n]`.
fn transposed<'a>(b: &[f32], [k, n]: [usize; 2], to: &'a mut [f32]) -> &'a [f32] {
    for (p, row) in to.chunks_exact_mut(n).enumerate() {
        row.iter_mut().enumerate().for_each(|(j, v)| *v = b[j * k + p]);
    }
    to
}

/// Neighbouring columns of the right factor.
struct Columns<'a> {
    b: &'a [f32],
    n: usize,
    k: usize,
    first: usize,
    bias: Option<&'a [f32]>,
}

impl Columns<'_> {
    #[inline(always)]
    fn start<const W: usize>(&self) -> [f32; W] {
        self.bias.map_or([0.0; W], |bias| *bias[self.first..].first_chunk().expect("columns of a block"))
    }

    #[inline(always)]
    fn row<const W: usize>(&self, p: usize) -> &[f32; W] {
        self.b[p * self.n + self.first..].first_chunk().expect("columns of a block")
    }

    /// Writes the sums of so many columns; their number.
    #[inline(always)]
    fn write<const W: usize>(&self, factors: impl Fn(usize) -> f32, to: &mut [f32]) -> usize {
        to[..W].copy_from_slice(&self.sums::<W>(factors));
        W
    }

    #[inline(always)]
    fn sums<const W: usize>(&self, factors: impl Fn(usize) -> f32) -> [f32; W] {
        let mut sums = self.start::<W>().map(f64::from);
        let mut doubts = [0; W];
        for p in 0..self.k {
            let (x, row) = (f64::from(factors(p)), self.row::<W>(p));
            for j in 0..W {
                let sum = x * f64::from(row[j]) + sums[j];
                doubts[j] |= doubt(sum);
                sums[j] = f64::from(sum as f32);
            }
        }
        if doubts.iter().any(|doubt| *doubt != 0) { self.slowly(factors) } else { sums.map(|sum| sum as f32) }
    }

    #[cold]
    fn slowly<const W: usize>(&self, factors: impl Fn(usize) -> f32) -> [f32; W] {
        let mut sums = self.start::<W>();
        for p in 0..self.k {
            let (x, row) = (factors(p), self.row::<W>(p));
            sums.iter_mut().zip(row).for_each(|(sum, w)| *sum = x.mul_add(*w, *sum));
        }
        sums
    }
}

/// 1 if a sum that is rounded to an `f32` may be rounded once too often, else 0; as wide as the sum, for vectors' sake.
#[inline(always)]
fn doubt(sum: f64) -> u64 {
    let is_halfway = u64::from(sum.to_bits() & LOST == HALFWAY);
    let has_few_bits = u64::from(sum.abs() < f64::from(f32::MIN_POSITIVE)) & u64::from(sum != 0.0);
    is_halfway | has_few_bits
}

#[cfg(test)]
mod tests {
    use super::super::Pack;
    use super::*;
    use offnominal_core::Rng;

    /// A product by the detour beside that by vector instructions.
    fn check(values: impl Fn(&mut Rng) -> f32) {
        let (m, k, n, mut rng) = (3, 40, 21, Rng::new(1));
        let [a, b, bias] =
            [m * k, k * n, n].map(|len| (0..len).map(|_| values(&mut rng)).collect::<Vec<_>>());
        for a in [Left::Rows(&a), Left::Columns(&a)] {
            for b in [Right::Rows(&b), Right::Columns(&b)] {
                let by = |run: fn(Product<'_>)| {
                    let (mut c, mut pack) = (vec![f32::NAN; m * n], Pack::default());
                    let bias = Some(&bias[..]);
                    run(Product { a, b, bias, slope: 0.1, c: &mut c, m, k, n, pack: &mut pack });
                    c.into_iter().map(f32::to_bits).collect::<Vec<_>>()
                };
                assert_eq!(by(run), by(|product| Arch::new().dispatch(product)));
            }
        }
    }

    #[test]
    fn bits_are_those_of_fused_multiply_adds() {
        check(|rng| rng.normal() as f32);
        // Numbers of few bits end halfway often, and tiny ones have fewer than 24.
        check(|rng| rng.range(-5.0, 5.0).round() as f32 * 1.000_000_1);
        check(|rng| (rng.normal() * 1e-20) as f32);
        check(|rng| if rng.uniform() < 0.5 { 0.0 } else { rng.normal() as f32 });
    }
}
