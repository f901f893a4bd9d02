//! Convolutions along sequences against their definition in double precision.

use offnominal_core::Rng;
use offnominal_nets::{Init, SequenceNet, Taps};

const CHANNELS: usize = 3;
const LAYERS: [Taps; 3] = [
    Taps { width: 5, spacing: 1, count: 4 },
    Taps { width: 3, spacing: 3, count: 5 },
    Taps { width: 1, spacing: 1, count: 2 },
];
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
fn convolve(x: &[f64], width: usize, taps: Taps, weights: &[f64], biases: &[f64], is_last: bool) -> Vec<f64> {
    let n = (x.len() / width) as i64;
    let at = |t: i64, c: usize| if (0..n).contains(&t) { x[t as usize * width + c] } else { 0.0 };
    let mut y = Vec::new();
    for (t, f) in (0..n).flat_map(|t| (0..taps.count).map(move |f| (t, f))) {
        let mut sum = biases[f];
        for (k, c) in (0..taps.width).flat_map(|k| (0..width).map(move |c| (k, c))) {
            let from = t + (k as i64 - taps.width as i64 / 2) * taps.spacing as i64;
            sum += weights[(k * width + c) * taps.count + f] * at(from, c);
        }
        y.push(if is_last { sum } else { sum.max(0.0) });
    }
    y
}

fn reference(net: &SequenceNet, params: &[f64], x: &[f64]) -> Vec<f64> {
    let (mut h, mut width) = (x.to_vec(), CHANNELS);
    for (l, &taps) in LAYERS.iter().enumerate() {
        let (w, b) = (&params[net.weights(l)], &params[net.biases(l)]);
        h = convolve(&h, width, taps, w, b, l + 1 == LAYERS.len());
        width = taps.count;
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
    assert_eq!(net.reach(), 2 + 3);
}

#[test]
fn the_backward_pass_passes_a_gradient_check() {
    let (net, params, x) = case();
    let c = normals(ENDS[2] * 2, 3);
    let (mut work, mut grad) = (net.workspace(ENDS[2]), vec![f32::NAN; params.len()]);
    net.forward(&params, &x, &ENDS, &mut work);
    net.backward(&params, &mut work, &c, &mut grad);
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
    SequenceNet::new(1, &[Taps { width: 4, spacing: 1, count: 1 }]);
}
