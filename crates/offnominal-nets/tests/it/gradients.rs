//! Backward passes against finite differences of the same network in double precision, and the promises of `Mlp`.

use offnominal_core::Rng;
use offnominal_nets::{Activation, Gradients, Init, Mlp};

const ACTIVATIONS: [Activation; 4] =
    [Activation::Relu, Activation::LeakyRelu, Activation::Tanh, Activation::Elu];

fn normals(n: usize, seed: u64) -> Vec<f32> {
    let mut out = vec![0.0; n];
    Rng::new(seed).fill_normal(&mut out);
    out
}

fn activate(f: Activation, z: f64) -> f64 {
    match f {
        Activation::Identity => z,
        Activation::Relu => z.max(0.0),
        Activation::LeakyRelu => z.max(0.01 * z),
        Activation::Tanh => z.tanh(),
        Activation::Elu => z.max(z.exp().min(1.0) - 1.0),
    }
}

/// The network by its definition, in double precision, for one row.
fn reference(net: &Mlp, hidden: Activation, params: &[f64], x: &[f64]) -> Vec<f64> {
    (0..net.n_layers()).fold(x.to_vec(), |h, layer| {
        let (w, b) = (&params[net.weights(layer)], &params[net.biases(layer)]);
        let f = if layer + 1 < net.n_layers() { hidden } else { Activation::Identity };
        let sum = |j: usize| (0..h.len()).map(|i| h[i] * w[i * b.len() + j]).sum::<f64>() + b[j];
        (0..b.len()).map(|j| activate(f, sum(j))).collect()
    })
}

/// A network with random numbers, and the loss Σ c·y with random c.
struct Case {
    net: Mlp,
    hidden: Activation,
    params: Vec<f32>,
    x: Vec<f32>,
    c: Vec<f32>,
}

impl Case {
    fn new(hidden: Activation, batch: usize) -> Case {
        let net = Mlp::new(&[5, 33, 18, 3], hidden);
        let mut params = vec![0.0; net.n_params()];
        net.init(&mut params, Init::Uniform, &mut Rng::new(1));
        let (x, c) = (normals(batch * 5, 2), normals(batch * 3, 3));
        Case { net, hidden, params, x, c }
    }

    fn loss(&self, params: &[f64], x: &[f64]) -> f64 {
        let rows = x.chunks_exact(5).zip(self.c.chunks_exact(3));
        rows.map(|(x, c)| {
            let y = reference(&self.net, self.hidden, params, x);
            y.iter().zip(c).map(|(y, &c)| y * f64::from(c)).sum::<f64>()
        })
        .sum()
    }
}

fn double(values: &[f32]) -> Vec<f64> {
    values.iter().map(|&v| f64::from(v)).collect()
}

/// Compares every tenth derivative with a central difference.
#[track_caller]
fn check(found: &[f32], at: &[f64], loss: impl Fn(&[f64]) -> f64, what: &str) {
    for i in (0..at.len()).step_by(10).chain([at.len() - 1]) {
        let moved = |shift: f64| {
            let mut at = at.to_vec();
            at[i] += shift;
            loss(&at)
        };
        let slope = (moved(1e-6) - moved(-1e-6)) / 2e-6;
        let error = (f64::from(found[i]) - slope).abs();
        assert!(error < 2e-5 * (1.0 + slope.abs()), "{what}[{i}]: expected {slope}, found {}", found[i]);
    }
}

#[test]
fn every_layer_and_activation_passes_a_gradient_check() {
    for (hidden, batch) in ACTIVATIONS.into_iter().flat_map(|f| [(f, 1), (f, 3), (f, 11)]) {
        let case = Case::new(hidden, batch);
        let mut work = case.net.workspace(16);
        let y = case.net.forward(&case.params, &case.x, &mut work).to_vec();
        let (exact, x) = (double(&case.params), double(&case.x));
        for (y, x) in y.chunks_exact(3).zip(x.chunks_exact(5)) {
            let want = reference(&case.net, hidden, &exact, x);
            assert!(y.iter().zip(want).all(|(&y, w)| (f64::from(y) - w).abs() < 1e-5), "{hidden:?}");
        }
        let (mut grad, mut d_in) = (vec![f32::NAN; exact.len()], vec![f32::NAN; x.len()]);
        let wanted = Gradients { params: Some(&mut grad), input: Some((0..5, &mut d_in)) };
        case.net.backward(&case.params, &case.x, &mut work, &case.c, wanted);
        check(&grad, &exact, |p| case.loss(p, &x), &format!("{hidden:?} parameters"));
        check(&d_in, &x, |x| case.loss(&exact, x), &format!("{hidden:?} input"));
    }
}

#[test]
fn some_input_channels_are_a_part_of_all() {
    let case = Case::new(Activation::Relu, 7);
    let mut work = case.net.workspace(7);
    let (mut all, mut some) = (vec![0.0; 35], vec![0.0; 14]);
    case.net.forward(&case.params, &case.x, &mut work);
    case.net.backward(&case.params, &case.x, &mut work, &case.c, Gradients::input(0..5, &mut all));
    case.net.backward(&case.params, &case.x, &mut work, &case.c, Gradients::input(3..5, &mut some));
    for (all, some) in all.chunks_exact(5).zip(some.chunks_exact(2)) {
        assert_eq!(all[3..], *some);
    }
}

#[test]
fn a_row_has_the_same_bits_alone_and_in_a_batch() {
    for hidden in ACTIVATIONS {
        let case = Case::new(hidden, 64);
        let mut work = case.net.workspace(64);
        let batch = case.net.forward(&case.params, &case.x, &mut work).to_vec();
        for (i, x) in case.x.chunks_exact(5).enumerate() {
            assert_eq!(
                *case.net.forward(&case.params, x, &mut work),
                batch[i * 3..][..3],
                "{hidden:?}, row {i}"
            );
        }
    }
}

/// With the masks held fixed, a stochastic pass is that of a masked network, and so is its derivative.
#[track_caller]
fn passes_a_gradient_check_with_fixed_masks(stochastic: impl Fn(Mlp) -> Mlp) {
    for hidden in ACTIVATIONS {
        let case = Case::new(hidden, 4);
        let net = stochastic(case.net.clone());
        let mut work = net.workspace(4);
        let value = |params: &[f32], work: &mut offnominal_nets::Workspace| -> f64 {
            let y = net.forward_train(params, &case.x, work, &mut Rng::new(9));
            y.iter().zip(&case.c).map(|(y, c)| f64::from(y * c)).sum()
        };
        let mut grad = vec![0.0; net.n_params()];
        value(&case.params, &mut work);
        net.backward(&case.params, &case.x, &mut work, &case.c, Gradients::params(&mut grad));
        // Along the gradient itself the difference is large enough for single precision.
        let norm = grad.iter().map(|g| g * g).sum::<f32>().sqrt();
        let moved = |shift: f32| -> Vec<f32> {
            case.params.iter().zip(&grad).map(|(p, g)| p + shift * g / norm).collect()
        };
        let slope = (value(&moved(1e-3), &mut work) - value(&moved(-1e-3), &mut work)) / 2e-3;
        assert!((slope / f64::from(norm) - 1.0).abs() < 0.01, "{hidden:?}: {slope} {norm}");
    }
}

#[test]
fn dropout_passes_a_gradient_check() {
    passes_a_gradient_check_with_fixed_masks(|net| net.with_dropout(0.25));
}

#[test]
fn dropconnect_passes_a_gradient_check() {
    passes_a_gradient_check_with_fixed_masks(|net| net.with_dropconnect(0.25));
}

#[test]
fn dropout_and_dropconnect_together_pass_a_gradient_check() {
    passes_a_gradient_check_with_fixed_masks(|net| net.with_dropout(0.1).with_dropconnect(0.1));
}

/// Biases are kept, and so are the weights of input and output.
#[test]
fn a_dropped_weight_has_no_derivative() {
    let case = Case::new(Activation::Tanh, 4);
    let (net, mut grad) = (case.net.clone().with_dropconnect(0.5), vec![f32::NAN; case.net.n_params()]);
    let mut work = net.workspace(4);
    net.forward_train(&case.params, &case.x, &mut work, &mut Rng::new(9));
    net.backward(&case.params, &case.x, &mut work, &case.c, Gradients::params(&mut grad));
    for (layer, want) in [(0, 0.0), (1, 0.5), (2, 0.0)] {
        let weights = &grad[net.weights(layer)];
        let zeros = weights.iter().filter(|&&g| g == 0.0).count() as f64 / weights.len() as f64;
        assert!((zeros - want).abs() < 0.15, "layer {layer}: {zeros} of the weights were dropped");
        assert!(grad[net.biases(layer)].iter().all(|&g| g != 0.0), "layer {layer}");
    }
}

/// A network with one linear hidden layer is linear in its weights, so the mean over masks is the plain network.
#[test]
fn the_mean_over_masks_is_the_plain_network_where_it_is_linear() {
    let net = Mlp::new(&[6, 8, 3], Activation::Identity);
    let (mut params, x) = (vec![0.0; net.n_params()], normals(6, 4));
    net.init(&mut params, Init::Uniform, &mut Rng::new(1));
    let plain = net.forward(&params, &x, &mut net.workspace(1)).to_vec();
    let (dropping, mut rng, n) = (net.with_dropconnect(0.3), Rng::new(2), 40_000);
    let (mut work, mut mean) = (dropping.workspace(1), [0.0_f64; 3]);
    for _ in 0..n {
        let y = dropping.forward_train(&params, &x, &mut work, &mut rng);
        mean.iter_mut().zip(y).for_each(|(m, &y)| *m += f64::from(y) / f64::from(n));
    }
    let close = mean.iter().zip(&plain).all(|(m, &p)| (m - f64::from(p)).abs() < 0.01);
    assert!(close, "{mean:?} {plain:?}");
}

#[test]
fn the_features_are_what_the_last_layer_reads() {
    let case = Case::new(Activation::Tanh, 3);
    let mut work = case.net.workspace(5);
    let y = case.net.forward(&case.params, &case.x, &mut work).to_vec();
    assert_eq!(work.features().len(), 3 * 18);
    let (last, head) = (case.net.n_layers() - 1, Mlp::new(&[18, 3], Activation::Relu));
    let params = &case.params[case.net.weights(last).start..];
    assert_eq!(y, head.forward(params, work.features(), &mut head.workspace(3)));
}

#[test]
fn a_plain_pass_drops_nothing() {
    let case = Case::new(Activation::Relu, 4);
    let net = case.net.clone().with_dropout(0.5).with_dropconnect(0.5);
    let dropped = net.forward(&case.params, &case.x, &mut net.workspace(4)).to_vec();
    assert_eq!(dropped, case.net.forward(&case.params, &case.x, &mut case.net.workspace(4)));
}
