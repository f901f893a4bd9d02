//! A sweep over the images of a batch, on all threads.

pub use offnominal_nets::planes::Kernel;
use offnominal_nets::planes::tile::{Block, lanes};
use offnominal_nets::planes::{Filters, Scratch, Sweep, Work};
use pulp::Arch;
use rayon::prelude::*;

/// Sweeps over x `[images, from, …]` and returns `[images, to, …]`.
pub fn run(sweep: &Sweep, x: &[f32], kernel: Kernel<'_>, bias: Option<&[f32]>) -> Vec<f32> {
    run_by(lanes(), |block| Arch::new().dispatch(block), sweep, x, kernel, bias)
}

/// Sweeps by vectors of so many numbers.
pub(super) fn run_by(
    lanes: usize,
    dispatch: impl Fn(Block<'_>) + Sync,
    sweep: &Sweep,
    x: &[f32],
    kernel: Kernel<'_>,
    bias: Option<&[f32]>,
) -> Vec<f32> {
    let (work, most) = (Work::by(lanes, sweep.clone()), Filters::most(lanes, kernel.to));
    let of = |first| Filters::new(sweep, kernel, bias, first, Filters::most(lanes, kernel.to - first));
    let filters: Vec<_> =
        (0..kernel.to.div_ceil(most)).into_par_iter().map(|block| of(block * most)).collect();
    let (image, block) = (kernel.from * sweep.planes.pixels(), most * work.pixels());
    let mut y = vec![0.0; x.len() / image * kernel.to * work.pixels()];
    let is_few = x.len() / image < rayon::current_num_threads();
    let images = y.par_chunks_mut(kernel.to * work.pixels()).zip(x.par_chunks(image));
    images.for_each_init(Scratch::default, |Scratch { planes, rows, .. }, (y, image)| {
        let x = work.lay_out(image, planes);
        if is_few {
            let blocks = y.par_chunks_mut(block).zip(&filters);
            blocks
                .for_each_init(Vec::new, |rows, (y, filters)| work.channels(filters, &dispatch, x, y, rows));
        } else {
            let blocks = y.chunks_mut(block).zip(&filters);
            blocks.for_each(|(y, filters)| work.channels(filters, &dispatch, x, y, rows));
        }
    });
    y
}
