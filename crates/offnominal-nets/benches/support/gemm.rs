//! The `gemm` crate as the yardstick of the benchmarks: the only use of it, and of `unsafe`, outside MuJoCo.

use gemm_common::Parallelism;

/// A factor of a product: numbers, and the distances between rows and between columns.
#[derive(Clone, Copy)]
pub struct Factor<'a> {
    numbers: &'a [f32],
    row: usize,
    column: usize,
}

impl<'a> Factor<'a> {
    /// A row-major matrix with the given width.
    pub fn rows(numbers: &'a [f32], width: usize) -> Factor<'a> {
        Factor { numbers, row: width, column: 1 }
    }

    /// The transpose of a row-major matrix with the given width.
    pub fn columns(numbers: &'a [f32], width: usize) -> Factor<'a> {
        Factor { numbers, row: 1, column: width }
    }

    fn holds(&self, rows: usize, columns: usize) -> bool {
        (rows - 1) * self.row + (columns - 1) * self.column < self.numbers.len()
    }
}

/// c `[m, n]` = a `[m, k]` · b `[k, n]`, in the column-major orientation, which is the faster one.
pub fn gemm((m, n, k): (usize, usize, usize), c: &mut [f32], a: Factor<'_>, b: Factor<'_>) {
    assert!(m * n <= c.len() && a.holds(m, k) && b.holds(k, n));
    let (run, none) = (gemm_f32::gemm::f32::get_gemm_fn(), Parallelism::None);
    let (c, a_numbers, b_numbers) = (c.as_mut_ptr(), a.numbers.as_ptr(), b.numbers.as_ptr());
    let at = |distance: usize| distance as isize;
    #[allow(unsafe_code)]
    // SAFETY: the pointers come from live slices, and every element read or written lies inside them as asserted.
    unsafe {
        run(
            n,
            m,
            k,
            c,
            at(n),
            1,
            false,
            b_numbers,
            at(b.column),
            at(b.row),
            a_numbers,
            at(a.column),
            at(a.row),
            0.0,
            1.0,
            false,
            false,
            false,
            none,
        );
    }
}
