//! Convolutions along sequences against their definition in double precision.

use offnominal_core::Rng;
use offnominal_nets::{Init, SequenceLayer, SequenceNet};

const CHANNELS: usize = 3;
const LAYERS: [SequenceLayer; 3] =
    [SequenceLayer::padded(5, 1, 4), SequenceLayer::padded(3, 3, 5), SequenceLayer::padded(1, 1, 2)];
const ENDS: [usize; 3] = [9, 11, 25];

fn normals(n: usize, seed: u64) -> Vec<f32> {
    let mut out = vec![0.0; n];
    Rng::new(seed).fill_normal(&mut out);
    out
}

fn double(values: &[f32]) -> Vec<f64> {
    values.iter().map(|&v| f64::from(v)).collect()
}

/// One layer on one sequence by its definition.
fn convolve(
    x: &[f64],
    width: usize,
    layer: SequenceLayer,
    weights: &[f64],
    biases: &[f64],
    is_last: bool,
) -> Vec<f64> {
    let n = (x.len() / width) as i64;
    let at = |t: i64, c: usize| if (0..n).contains(&t) { x[t as usize * width + c] } else { 0.0 };
    let mut y = Vec::new();
    for (t, f) in (0..n).flat_map(|t| (0..layer.count).map(move |f| (t, f))) {
        let mut sum = biases[f];
        for (k, c) in (0..layer.width).flat_map(|k| (0..width).map(move |c| (k, c))) {
            let from = t + (k as i64 - layer.width as i64 / 2) * layer.dilation as i64;
            sum += weights[(k * width + c) * layer.count + f] * at(from, c);
        }
        y.push(if is_last { sum } else { sum.max(0.0) });
    }
    y
}

fn reference(net: &SequenceNet, params: &[f64], x: &[f64]) -> Vec<f64> {
    let (mut h, mut width) = (x.to_vec(), CHANNELS);
    for (l, &layer) in LAYERS.iter().enumerate() {
        let (w, b) = (&params[net.weights(l)], &params[net.biases(l)]);
        h = convolve(&h, width, layer, w, b, l + 1 == LAYERS.len());
        width = layer.count;
    }
    h
}

/// The sequences of the batch, one after the other.
fn all(net: &SequenceNet, params: &[f64], x: &[f32]) -> Vec<f64> {
    let starts = [0].into_iter().chain(ENDS);
    let of = |(from, to): (usize, usize)| reference(net, params, &double(&x[from * CHANNELS..to * CHANNELS]));
    starts.zip(ENDS).flat_map(of).collect()
}

fn case() -> (SequenceNet, Vec<f32>, Vec<f32>) {
    let net = SequenceNet::new(CHANNELS, &LAYERS);
    let mut params = vec![0.0; net.n_params()];
    net.init(&mut params, Init::Uniform, &mut Rng::new(1));
    let x = normals(ENDS[2] * CHANNELS, 2);
    (net, params, x)
}

#[test]
fn results_agree_with_the_definition() {
    let (net, params, x) = case();
    let y = net.forward(&params, &x, &ENDS, &mut net.workspace(30)).to_vec();
    let want = all(&net, &double(&params), &x);
    assert_eq!(y.len(), want.len());
    assert!(y.iter().zip(&want).all(|(&y, w)| (f64::from(y) - w).abs() < 1e-5), "{y:?} {want:?}");
}

#[test]
fn the_backward_pass_passes_a_gradient_check() {
    let (net, params, x) = case();
    let c = normals(ENDS[2] * 2, 3);
    let (mut work, mut grad) = (net.workspace(ENDS[2]), vec![f32::NAN; params.len()]);
    net.forward(&params, &x, &ENDS, &mut work);
    net.backward(&params, &mut work, &c, &mut grad, None);
    let loss = |p: &[f64]| all(&net, p, &x).iter().zip(&c).map(|(y, &c)| y * f64::from(c)).sum::<f64>();
    for i in (0..params.len()).step_by(5).chain([params.len() - 1]) {
        let moved = |shift: f64| {
            let mut at = double(&params);
            at[i] += shift;
            loss(&at)
        };
        let slope = (moved(1e-6) - moved(-1e-6)) / 2e-6;
        let error = (f64::from(grad[i]) - slope).abs();
        assert!(error < 5e-5 * (1.0 + slope.abs()), "[{i}]: expected {slope}, found {}", grad[i]);
    }
}

#[test]
fn a_sequence_has_the_same_bits_alone_and_in_a_batch() {
    let (net, params, x) = case();
    let batch = net.forward(&params, &x, &ENDS, &mut net.workspace(25)).to_vec();
    let (from, to) = (ENDS[0], ENDS[1]);
    let mut work = net.workspace(to - from);
    let alone = net.forward(&params, &x[from * CHANNELS..to * CHANNELS], &[to - from], &mut work);
    assert_eq!(*alone, batch[from * 2..to * 2]);
}

#[test]
#[should_panic(expected = "width: 4")]
fn filters_without_a_middle_are_refused() {
    SequenceNet::new(1, &[SequenceLayer::padded(4, 1, 1)]);
}

/// A single filter that is not padded.
fn unpadded(width: usize, stride: usize, dilation: usize) -> SequenceNet {
    SequenceNet::new(1, &[SequenceLayer { width, dilation, stride, count: 1, padded: false }])
}

#[test]
fn a_moving_difference_is_computed_for_each_sequence_alone() {
    let net = unpadded(2, 1, 2);
    // Weights −1 and 1, no bias.
    let (params, x) = ([-1.0, 1.0, 0.0], [1.0, 2.0, 4.0, 8.0, 0.0, 0.0, 5.0, 5.0]);
    assert_eq!(net.forward(&params, &x, &[4, 8], &mut net.workspace(8)), [3.0, 6.0, 5.0, 5.0]);
    let net = unpadded(3, 2, 1);
    assert_eq!(net.forward(&[1.0, 0.0, 1.0, 0.5], &[1.0; 7], &[7], &mut net.workspace(7)), [2.5; 3]);
}

#[test]
fn derivatives_by_the_input_are_those_of_differences() {
    let layer = SequenceLayer { width: 3, dilation: 1, stride: 2, count: 2, padded: false };
    let net = SequenceNet::new(2, &[layer, SequenceLayer::padded(1, 1, 2)]);
    let params: Vec<f32> = (0..net.n_params()).map(|i| (i as f32 * 0.7).sin()).collect();
    let input: Vec<f32> = (0..10).map(|i| (i as f32 * 1.3).cos()).collect();
    let mut work = net.workspace(5);
    let slope = |i: usize| {
        let value = |shift: f32| {
            let mut moved = input.clone();
            moved[i] += shift;
            net.forward(&params, &moved, &[5], &mut net.workspace(5)).iter().sum::<f32>()
        };
        (value(1e-2) - value(-1e-2)) / 2e-2
    };
    let wanted: Vec<f32> = (0..10).map(slope).collect();
    let (mut grad, mut found) = (vec![0.0; params.len()], vec![f32::NAN; 10]);
    net.forward(&params, &input, &[5], &mut work);
    net.backward(&params, &mut work, &[1.0; 4], &mut grad, Some(&mut found));
    assert!(found.iter().zip(&wanted).all(|(a, b)| (a - b).abs() < 1e-3), "{found:?} {wanted:?}");
}
