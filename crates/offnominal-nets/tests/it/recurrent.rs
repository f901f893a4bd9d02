//! Recurrent layers against their equations in double precision: values, derivatives, streams and pieces.

use offnominal_core::Rng;
use offnominal_nets::{CellKind, Recurrent};

const STEPS: usize = 4;
const BATCH: usize = 7;
const INPUTS: usize = 3;
const HIDDEN: usize = 5;

fn normals(n: usize, seed: u64) -> Vec<f32> {
    let mut out = vec![0.0; n];
    Rng::new(seed).fill_normal(&mut out);
    out
}

fn double(values: &[f32]) -> Vec<f64> {
    values.iter().map(|&v| f64::from(v)).collect()
}

fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

/// All hidden states of one sequence by the equations.
fn reference(kind: CellKind, params: &[f64], x: &[f64]) -> Vec<f64> {
    let gates = if kind == CellKind::Lstm { 4 } else { 3 };
    let width = gates * HIDDEN;
    let (w, rest) = params.split_at(INPUTS * width);
    let (u, rest) = rest.split_at(HIDDEN * width);
    let (b, c) = rest.split_at(width);
    let (mut h, mut s, mut all) = (vec![0.0; HIDDEN], vec![0.0; HIDDEN], vec![]);
    for x in x.chunks_exact(INPUTS) {
        let dot = |x: &[f64], w: &[f64], k: usize| (0..x.len()).map(|i| x[i] * w[i * width + k]).sum::<f64>();
        let from_x: Vec<f64> = (0..width).map(|k| dot(x, w, k) + b[k]).collect();
        let from_h: Vec<f64> = (0..width).map(|k| dot(&h, u, k) + c[k]).collect();
        for j in 0..HIDDEN {
            let gate = |g: usize| from_x[g * HIDDEN + j] + from_h[g * HIDDEN + j];
            h[j] = if kind == CellKind::Lstm {
                s[j] = sigmoid(gate(1)) * s[j] + sigmoid(gate(0)) * gate(2).tanh();
                sigmoid(gate(3)) * s[j].tanh()
            } else {
                let inner = from_x[2 * HIDDEN + j] + sigmoid(gate(0)) * from_h[2 * HIDDEN + j];
                (1.0 - sigmoid(gate(1))) * inner.tanh() + sigmoid(gate(1)) * h[j]
            };
        }
        all.extend_from_slice(&h);
    }
    all
}

struct Case {
    net: Recurrent,
    kind: CellKind,
    params: Vec<f32>,
    /// `[STEPS, BATCH, INPUTS]`.
    x: Vec<f32>,
    /// The loss is Σ c h.
    c: Vec<f32>,
}

impl Case {
    fn new(kind: CellKind) -> Case {
        let net = Recurrent::new(kind, INPUTS, HIDDEN);
        let mut params = vec![0.0; net.n_params()];
        net.init(&mut params, &mut Rng::new(1));
        Case {
            net,
            kind,
            params,
            x: normals(STEPS * BATCH * INPUTS, 2),
            c: normals(STEPS * BATCH * HIDDEN, 3),
        }
    }

    /// Steps of one sequence of a time-major array.
    fn sequence(values: &[f32], row: usize, width: usize) -> Vec<f64> {
        let steps = values.chunks_exact(BATCH * width);
        steps.flat_map(|step| double(&step[row * width..(row + 1) * width])).collect()
    }

    fn loss(&self, params: &[f64]) -> f64 {
        let of = |row: usize| -> f64 {
            let h = reference(self.kind, params, &Case::sequence(&self.x, row, INPUTS));
            h.iter().zip(Case::sequence(&self.c, row, HIDDEN)).map(|(h, c)| h * c).sum()
        };
        (0..BATCH).map(of).sum()
    }
}

const KINDS: [CellKind; 2] = [CellKind::Lstm, CellKind::Gru];

#[test]
fn values_follow_the_equations() {
    for kind in KINDS {
        let case = Case::new(kind);
        let mut work = case.net.workspace(STEPS, BATCH);
        let found = case.net.forward(&case.params, &case.x, &mut work).to_vec();
        for row in 0..BATCH {
            let want = reference(kind, &double(&case.params), &Case::sequence(&case.x, row, INPUTS));
            let found = Case::sequence(&found, row, HIDDEN);
            assert!(found.iter().zip(&want).all(|(a, b)| (a - b).abs() < 2e-6), "{kind:?} {row}");
        }
    }
}

#[test]
fn derivatives_are_those_of_finite_differences() {
    for kind in KINDS {
        let case = Case::new(kind);
        let mut work = case.net.workspace(STEPS, BATCH);
        let mut grad = vec![f32::NAN; case.params.len()];
        case.net.forward(&case.params, &case.x, &mut work);
        case.net.backward(&case.params, &case.x, &mut work, &case.c, &mut grad);
        let at = double(&case.params);
        for i in 0..at.len() {
            let moved = |shift: f64| {
                let mut at = at.clone();
                at[i] += shift;
                case.loss(&at)
            };
            let slope = (moved(1e-6) - moved(-1e-6)) / 2e-6;
            let error = (f64::from(grad[i]) - slope).abs();
            assert!(error < 3e-5 * (1.0 + slope.abs()), "{kind:?} {i}: expected {slope}, found {}", grad[i]);
        }
    }
}

#[test]
fn pieces_and_streams_have_the_bits_of_the_whole() {
    for kind in KINDS {
        let case = Case::new(kind);
        let mut work = case.net.workspace(STEPS, BATCH);
        let whole = case.net.forward(&case.params, &case.x, &mut work).to_vec();
        for piece in [1, 2] {
            work.reset();
            let pieces = case.x.chunks_exact(piece * BATCH * INPUTS);
            let found: Vec<f32> =
                pieces.flat_map(|x| case.net.forward(&case.params, x, &mut work).to_vec()).collect();
            assert_eq!(found, whole, "{kind:?} in pieces of {piece}");
        }
        let mut alone = case.net.workspace(1, 1);
        for t in 0..STEPS {
            let x = &case.x[t * BATCH * INPUTS..][..INPUTS];
            let h = case.net.forward(&case.params, x, &mut alone);
            assert_eq!(h, &whole[t * BATCH * HIDDEN..][..HIDDEN], "{kind:?}: a sequence alone");
        }
    }
}

#[test]
fn a_reset_forgets_and_a_carried_state_does_not() {
    for kind in KINDS {
        let case = Case::new(kind);
        let mut work = case.net.workspace(STEPS, BATCH);
        let first = case.net.forward(&case.params, &case.x, &mut work).to_vec();
        assert_ne!(
            first,
            case.net.forward(&case.params, &case.x, &mut work),
            "{kind:?}: the state is carried"
        );
        work.reset();
        assert_eq!(first, case.net.forward(&case.params, &case.x, &mut work), "{kind:?}: the state is zero");
        let second = case.net.forward(&case.params, &case.x, &mut work).to_vec();
        work.rewind();
        assert_eq!(second, case.net.forward(&case.params, &case.x, &mut work), "{kind:?}: the pass again");
    }
}
