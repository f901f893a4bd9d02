//! Convolutions against their definition in double precision, alone and before a dense network.

use offnominal_core::Rng;
use offnominal_nets::{Activation, ConvNet, ConvWorkspace, Filters, Gradients, Init, Mlp, Workspace};

const PLANES: usize = 2;
const ROWS: usize = 13;
const COLUMNS: usize = 11;
const LAYERS: [Filters; 2] =
    [Filters { kernel: 4, stride: 2, count: 5 }, Filters { kernel: 3, stride: 1, count: 3 }];
const BATCH: usize = 3;

fn normals(n: usize, seed: u64) -> Vec<f32> {
    let mut out = vec![0.0; n];
    Rng::new(seed).fill_normal(&mut out);
    out
}

fn double(values: &[f32]) -> Vec<f64> {
    values.iter().map(|&v| f64::from(v)).collect()
}

/// An image by pixel: plane, row, column.
type Image = Box<dyn Fn(usize, usize, usize) -> f64>;

/// One rectified convolution by its definition; the weights of a patch are in the order that `at` tells.
fn convolve(
    image: &Image,
    (planes, rows, columns): (usize, usize, usize),
    filters: Filters,
    weights: &[f64],
    biases: &[f64],
    at: impl Fn(usize, usize, usize) -> usize,
) -> (Image, (usize, usize, usize)) {
    let Filters { kernel, stride, count } = filters;
    let (out_rows, out_columns) = ((rows - kernel) / stride + 1, (columns - kernel) / stride + 1);
    let mut out = vec![0.0; count * out_rows * out_columns];
    for (i, value) in out.iter_mut().enumerate() {
        let (f, y, x) = (i / (out_rows * out_columns), i / out_columns % out_rows, i % out_columns);
        let mut sum = biases[f];
        for (c, ky, kx) in
            (0..planes * kernel * kernel).map(|j| (j / (kernel * kernel), j / kernel % kernel, j % kernel))
        {
            sum += weights[at(c, ky, kx) * count + f] * image(c, y * stride + ky, x * stride + kx);
        }
        *value = sum.max(0.0);
    }
    let pixel = move |c: usize, y: usize, x: usize| out[(c * out_rows + y) * out_columns + x];
    (Box::new(pixel), (count, out_rows, out_columns))
}

/// The features of one image, interleaved.
fn reference(net: &ConvNet, params: &[f64], input: &[f64]) -> Vec<f64> {
    let input = input.to_vec();
    let first: Image = Box::new(move |c, y, x| input[(c * ROWS + y) * COLUMNS + x]);
    let (k, k2) = (LAYERS[0].kernel, LAYERS[1].kernel);
    let layer = |l: usize| (&params[net.weights(l)], &params[net.biases(l)]);
    let planar = |c: usize, y: usize, x: usize| (c * k + y) * k + x;
    let shape = (PLANES, ROWS, COLUMNS);
    let (hidden, shape) = convolve(&first, shape, LAYERS[0], layer(0).0, layer(0).1, planar);
    let interleaved = |c: usize, y: usize, x: usize| (y * k2 + x) * LAYERS[0].count + c;
    let (last, (count, rows, columns)) =
        convolve(&hidden, shape, LAYERS[1], layer(1).0, layer(1).1, interleaved);
    (0..count * rows * columns).map(|i| last(i % count, i / count / columns, i / count % columns)).collect()
}

/// Layers, parameters, images, and a loss Σ c·y.
struct Case {
    net: ConvNet,
    params: Vec<f32>,
    x: Vec<f32>,
    c: Vec<f32>,
}

fn case() -> Case {
    let net = ConvNet::new(PLANES, ROWS, COLUMNS, &LAYERS).with_scale(1.0);
    let mut params = vec![0.0; net.n_params()];
    net.init(&mut params, Init::Uniform, &mut Rng::new(1));
    let (x, c) = (normals(BATCH * net.inputs(), 2), normals(BATCH * net.outputs(), 3));
    Case { net, params, x, c }
}

impl Case {
    fn loss(&self, params: &[f64]) -> f64 {
        let rows = self.x.chunks_exact(self.net.inputs()).zip(self.c.chunks_exact(self.net.outputs()));
        let one = |(x, c): (&[f32], &[f32])| {
            let y = reference(&self.net, params, &double(x));
            y.iter().zip(c).map(|(y, &c)| y * f64::from(c)).sum::<f64>()
        };
        rows.map(one).sum()
    }
}

#[track_caller]
fn check(found: &[f32], at: &[f64], step: usize, loss: impl Fn(&[f64]) -> f64) {
    for i in (0..at.len()).step_by(step).chain([at.len() - 1]) {
        let moved = |shift: f64| {
            let mut at = at.to_vec();
            at[i] += shift;
            loss(&at)
        };
        let slope = (moved(1e-6) - moved(-1e-6)) / 2e-6;
        let error = (f64::from(found[i]) - slope).abs();
        assert!(error < 5e-5 * (1.0 + slope.abs()), "[{i}]: expected {slope}, found {}", found[i]);
    }
}

#[test]
fn results_agree_with_the_definition() {
    let case = case();
    let y = case.net.forward(&case.params, &case.x, &mut case.net.workspace(4)).to_vec();
    let rows = y.chunks_exact(case.net.outputs()).zip(case.x.chunks_exact(case.net.inputs()));
    for (y, x) in rows {
        let want = reference(&case.net, &double(&case.params), &double(x));
        assert!(y.iter().zip(&want).all(|(&y, w)| (f64::from(y) - w).abs() < 1e-5), "{y:?} {want:?}");
    }
    assert!(y.iter().any(|&y| y > 0.0));
}

#[test]
fn the_backward_pass_passes_a_gradient_check() {
    let case = case();
    let (mut work, mut grad) = (case.net.workspace(BATCH), vec![f32::NAN; case.params.len()]);
    case.net.forward(&case.params, &case.x, &mut work);
    case.net.backward(&case.params, &mut work, &case.c, &mut grad);
    check(&grad, &double(&case.params), 7, |p| case.loss(p));
}

/// Convolutions and a dense network behind them learn as one.
#[test]
fn the_chain_with_a_dense_network_passes_a_gradient_check() {
    let Case { net, params, x, .. } = case();
    let (head, c) = (Mlp::new(&[net.outputs(), 8, 2], Activation::Tanh), normals(BATCH * 2, 5));
    let mut dense = vec![0.0; head.n_params()];
    head.init(&mut dense, Init::Uniform, &mut Rng::new(6));
    let (mut work, mut head_work) = (net.workspace(BATCH), head.workspace(BATCH));
    let value = |params: &[f32], work: &mut ConvWorkspace, head_work: &mut Workspace| -> f64 {
        let y = head.forward(&dense, net.forward(params, &x, work), head_work);
        y.iter().zip(&c).map(|(y, c)| f64::from(y * c)).sum()
    };
    value(&params, &mut work, &mut head_work);
    let (mut d_features, mut grad) = (vec![0.0; BATCH * net.outputs()], vec![0.0; params.len()]);
    let wanted = Gradients::input(0..net.outputs(), &mut d_features);
    head.backward(&dense, work.output(), &mut head_work, &c, wanted);
    net.backward(&params, &mut work, &d_features, &mut grad);
    let norm = grad.iter().map(|g| g * g).sum::<f32>().sqrt();
    let moved =
        |shift: f32| -> Vec<f32> { params.iter().zip(&grad).map(|(p, g)| p + shift * g / norm).collect() };
    let mut at = |shift: f32| value(&moved(shift), &mut work, &mut head_work);
    let slope = (at(2e-3) - at(-2e-3)) / 4e-3;
    assert!((slope / f64::from(norm) - 1.0).abs() < 0.01, "{slope} {norm}");
}

#[test]
fn an_image_has_the_same_bits_alone_and_in_a_batch() {
    let case = case();
    let batch = case.net.forward(&case.params, &case.x, &mut case.net.workspace(BATCH)).to_vec();
    let alone = case.x.chunks_exact(case.net.inputs()).zip(batch.chunks_exact(case.net.outputs()));
    for (x, want) in alone {
        assert_eq!(*case.net.forward(&case.params, x, &mut case.net.workspace(1)), *want);
    }
}

/// The layers of Mnih et al., Nature 2015.
fn nature(rows: usize) -> ConvNet {
    let filters = [[8, 4, 32], [4, 2, 64], [3, 1, 64]];
    ConvNet::new(4, rows, 84, &filters.map(|[kernel, stride, count]| Filters { kernel, stride, count }))
}

#[test]
fn the_layers_of_nature_have_their_published_sizes() {
    let net = nature(84);
    assert_eq!((net.inputs(), net.outputs()), (28_224, 3_136));
    assert_eq!((0..3).map(|l| net.weight_shape(l)).collect::<Vec<_>>(), [[256, 32], [512, 64], [576, 64]]);
    assert_eq!(net.n_params(), 8_224 + 32_832 + 36_928);
}

#[test]
#[should_panic(expected = "on an image of 35 by 84")]
fn filters_that_do_not_fit_are_refused() {
    nature(35);
}
