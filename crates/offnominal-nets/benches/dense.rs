//! Dense layers as a fraction of what the `gemm` crate reaches on the same shapes, on one thread.
//!
//! `cargo bench -p offnominal-nets`: the figure to compare is the throughput of multiply-adds in each group.

#[path = "support/gemm.rs"]
mod gemm;

use divan::{Bencher, counter::ItemsCount};
use gemm::{Factor, gemm};
use offnominal_core::Rng;
use offnominal_nets::{Activation, Adam, AdamState, Gradients, Init, Mlp};

fn main() {
    divan::main();
}

fn normals(n: usize) -> Vec<f32> {
    let mut out = vec![0.0; n];
    Rng::new(1).fill_normal(&mut out);
    out
}

/// Batch and widths of: TQC's critic, TQC's critic for MuJoCo, the dynamics model of PE-DM.
const SHAPES: [(usize, &[usize]); 3] =
    [(256, &[23, 256, 256, 25]), (512, &[23, 512, 512, 512, 25]), (256, &[24, 512, 256, 128, 34])];

/// Multiply-adds of a forward pass, of all weight gradients, and of all input gradients but the first.
fn multiply_adds(batch: usize, sizes: &[usize]) -> usize {
    let layers = || sizes.windows(2).map(|w| w[0] * w[1]);
    batch * (2 * layers().sum::<usize>() + layers().skip(1).sum::<usize>())
}

/// Forward, backward by the parameters, and the optimiser.
#[divan::bench(args = [0, 1, 2])]
fn training_step(bencher: Bencher, shape: usize) {
    let (batch, sizes) = SHAPES[shape];
    let net = Mlp::new(sizes, Activation::Relu);
    let mut params = vec![0.0; net.n_params()];
    net.init(&mut params, Init::Uniform, &mut Rng::new(2));
    let (x, d) = (normals(batch * net.inputs()), normals(batch * net.outputs()));
    let (mut work, mut grad) = (net.workspace(batch), params.clone());
    let mut state = AdamState::new(params.len());
    bencher.counter(ItemsCount::new(multiply_adds(batch, sizes))).bench_local(|| {
        net.forward(&params, &x, &mut work);
        net.backward(&params, &x, &mut work, &d, Gradients::params(&mut grad));
        Adam { lr: 1e-9, ..Adam::default() }.step(&mut params, &grad, &mut state);
    });
}

/// The bare products of the same step by `gemm`, without bias, activation or optimiser.
#[divan::bench(args = [0, 1, 2])]
fn gemm_products(bencher: Bencher, shape: usize) {
    let (batch, sizes) = SHAPES[shape];
    let widest = *sizes.iter().max().unwrap();
    let (x, w, mut y) =
        (normals(batch * widest), normals(widest * widest), vec![0.0; widest * batch.max(widest)]);
    bencher.counter(ItemsCount::new(multiply_adds(batch, sizes))).bench_local(|| {
        for (layer, s) in sizes.windows(2).enumerate() {
            gemm((batch, s[1], s[0]), &mut y, Factor::rows(&x, s[0]), Factor::rows(&w, s[1]));
            gemm((s[0], s[1], batch), &mut y, Factor::columns(&x, s[0]), Factor::rows(&w, s[1]));
            if layer > 0 {
                gemm((batch, s[0], s[1]), &mut y, Factor::rows(&x, s[1]), Factor::columns(&w, s[1]));
            }
        }
    });
}

/// One row through the network, as a policy or a monitor does at every step.
#[divan::bench(args = [0, 1, 2])]
fn one_row(bencher: Bencher, shape: usize) {
    let net = Mlp::new(SHAPES[shape].1, Activation::Relu);
    let params = normals(net.n_params());
    let (x, mut work) = (normals(net.inputs()), net.workspace(1));
    bencher.counter(ItemsCount::new(net.n_params())).bench_local(|| net.forward(&params, &x, &mut work)[0]);
}
