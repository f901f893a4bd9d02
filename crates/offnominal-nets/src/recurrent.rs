//! Recurrent layers: LSTM and GRU, with truncated backpropagation through time.
//!
//! With x_t `[batch, inputs]` and h_t `[batch, hidden]`, a step forms u = x_t W + b and v = h_{t−1} U + c, all gates in
//! one product each, and then, gate by gate (σ the logistic function, ∘ the product of elements):
//!
//! | kind | gates   | step                                                                                      |
//! |------|---------|-------------------------------------------------------------------------------------------|
//! | LSTM | i f g o | s_t = σ(f)∘s_{t−1} + σ(i)∘tanh(g), h_t = σ(o)∘tanh(s_t), each gate being u + v            |
//! | GRU  | r z n   | h_t = (1 − σ(z))∘n + σ(z)∘h_{t−1}, n = tanh(u_n + σ(r)∘v_n), r = u_r + v_r, z = u_z + v_z |
//!
//! These are the equations of PyTorch. Parameters are W `[inputs, gates · hidden]`, U `[hidden, gates · hidden]`, b, c.
//! A workspace carries the state from one pass to the next, so a sequence can be passed in pieces: piece by piece in
//! training, where derivatives stop at the border of a piece, and step by step in a stream, with the same bits.
//!
//! ```
//! use offnominal_core::Rng;
//! use offnominal_nets::{CellKind, Recurrent};
//!
//! let net = Recurrent::new(CellKind::Gru, 3, 8);
//! let mut params = vec![0.0; net.n_params()];
//! net.init(&mut params, &mut Rng::new(1));
//! let x: Vec<f32> = (0..15).map(|i| i as f32 / 15.0).collect(); // five steps of three inputs
//! let mut work = net.workspace(5, 1);
//! let whole = net.forward(&params, &x, &mut work).to_vec();
//! work.reset();
//! let streamed: Vec<f32> =
//!     x.chunks_exact(3).flat_map(|x| net.forward(&params, x, &mut work).to_vec()).collect();
//! assert_eq!(whole, streamed);
//! ```

mod cell;

use crate::Init;
use crate::matmul::{self, Pack, Packed};
use offnominal_core::Rng;
use std::ops::Range;

/// Which equations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CellKind {
    /// Long short-term memory (Hochreiter and Schmidhuber 1997, with the forget gate of Gers et al. 2000).
    Lstm,
    /// Gated recurrent unit (Cho et al. 2014).
    Gru,
}

impl CellKind {
    fn gates(self) -> usize {
        match self {
            CellKind::Lstm => 4,
            CellKind::Gru => 3,
        }
    }
}

/// The shape of a recurrent layer. Parameters are passed to each call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Recurrent {
    kind: CellKind,
    inputs: usize,
    hidden: usize,
}

/// Everything that passes through a layer write to, and the state that is carried from one to the next.
#[derive(Debug, Clone)]
pub struct RecurrentWork {
    batch: usize,
    max_steps: usize,
    /// Steps of the last pass.
    steps: usize,
    /// h_0 … h_T, `[T + 1, batch, hidden]`.
    hidden: Vec<f32>,
    /// s_0 … s_T, likewise; unused by the GRU.
    memory: Vec<f32>,
    /// u, then the values of the gates after a step; in the backward pass the derivatives by u. `[T, batch, gates ·
    /// hidden]`.
    gates: Vec<f32>,
    /// v, and in the backward pass the derivatives by v, likewise.
    recurrent: Vec<f32>,
    /// Derivatives by h_t and s_t while going back, `[batch, hidden]`.
    d_hidden: Vec<f32>,
    d_memory: Vec<f32>,
    d_before: Vec<f32>,
    pack: Pack,
    /// U, or its transpose on the way back.
    packed: Packed,
}

impl RecurrentWork {
    /// Sets the state to zero, for the beginning of a sequence.
    pub fn reset(&mut self) {
        let state = self.state();
        self.steps = 0;
        self.hidden[..state].fill(0.0);
        self.memory[..state].fill(0.0);
    }

    /// Sets the state of each row for the beginning of a sequence: h and, for the LSTM, s, `[batch, hidden]` each.
    ///
    /// # Panics
    /// If one has another length.
    pub fn begin(&mut self, hidden: &[f32], memory: &[f32]) {
        let state = self.state();
        assert_eq!([hidden.len(), memory.len()], [state; 2], "length of a state");
        self.steps = 0;
        self.hidden[..state].copy_from_slice(hidden);
        self.memory[..state].copy_from_slice(memory);
    }

    /// Derivatives by the state before the last forward pass, h and s, after a backward pass.
    pub fn d_state(&self) -> [&[f32]; 2] {
        [&self.d_hidden, &self.d_memory]
    }

    /// Takes back the last pass: the next one begins where that one began.
    pub fn rewind(&mut self) {
        self.steps = 0;
    }

    /// Number of sequences side by side.
    pub fn batch(&self) -> usize {
        self.batch
    }

    /// h_1 … h_T of the last pass, `[T, batch, hidden]`.
    pub fn output(&self) -> &[f32] {
        &self.hidden[self.state()..(self.steps + 1) * self.state()]
    }

    /// Length of the state of all rows.
    fn state(&self) -> usize {
        self.hidden.len() / (self.max_steps + 1)
    }

    /// Makes the state after the last pass the first of the next.
    fn carry(&mut self) {
        let (state, from) = (self.state(), self.steps * self.state());
        self.hidden.copy_within(from..from + state, 0);
        self.memory.copy_within(from..from + state, 0);
    }
}

impl Recurrent {
    /// A layer of the given widths.
    ///
    /// # Panics
    /// If one is zero.
    pub fn new(kind: CellKind, inputs: usize, hidden: usize) -> Recurrent {
        assert!(inputs > 0 && hidden > 0, "expected positive widths, found {inputs} and {hidden}");
        Recurrent { kind, inputs, hidden }
    }

    /// Width of an input.
    pub fn inputs(&self) -> usize {
        self.inputs
    }

    /// Width of the state h.
    pub fn hidden(&self) -> usize {
        self.hidden
    }

    /// Number of parameters.
    pub fn n_params(&self) -> usize {
        self.ranges()[3].end
    }

    /// Width of all gates.
    fn width(&self) -> usize {
        self.kind.gates() * self.hidden
    }

    /// Where W, U, b and c lie in the parameters.
    fn ranges(&self) -> [Range<usize>; 4] {
        let mut end = 0;
        [self.inputs * self.width(), self.hidden * self.width(), self.width(), self.width()].map(|len| {
            end += len;
            end - len..end
        })
    }

    /// Draws the first parameters, uniform on ±1/√hidden as PyTorch does.
    pub fn init(&self, params: &mut [f32], rng: &mut Rng) {
        Init::Uniform.fill(self.hidden, params, &mut [], rng);
    }

    /// Buffers for `batch` sequences at once, passed in pieces of up to `max_steps`; the state is zero.
    pub fn workspace(&self, max_steps: usize, batch: usize) -> RecurrentWork {
        let (state, gates) = (batch * self.hidden, batch * self.width());
        let [d_hidden, d_memory, d_before] = [(); 3].map(|()| vec![0.0; state]);
        RecurrentWork {
            batch,
            max_steps,
            steps: 0,
            hidden: vec![0.0; (max_steps + 1) * state],
            memory: vec![0.0; (max_steps + 1) * state],
            gates: vec![0.0; max_steps * gates],
            recurrent: vec![0.0; max_steps * gates],
            d_hidden,
            d_memory,
            d_before,
            pack: Pack::default(),
            packed: Packed::default(),
        }
    }

    /// Passes the next steps of each sequence, `[T, batch, inputs]`, and returns h_1 … h_T, `[T, batch, hidden]`.
    ///
    /// # Panics
    /// If the shapes do not fit, or there are more steps than the workspace has room for.
    pub fn forward<'w>(&self, params: &[f32], x: &[f32], work: &'w mut RecurrentWork) -> &'w [f32] {
        let steps = x.len() / (work.batch * self.inputs);
        assert_eq!((params.len(), x.len()), (self.n_params(), steps * work.batch * self.inputs), "shapes");
        assert!(0 < steps && steps <= work.max_steps, "{steps} steps, workspace for {}", work.max_steps);
        work.carry();
        work.steps = steps;
        let ([w, u, b, c], gates) = (self.ranges(), work.batch * self.width());
        let (all, pack) = (&mut work.gates[..steps * gates], &mut work.pack);
        matmul::forward(x, &params[w], &params[b], 1.0, all, pack);
        let (state, packs) = (work.batch * self.hidden, Packed::pays(work.batch, steps));
        if packs {
            work.packed.set(&params[u.clone()], self.width());
        }
        for t in 0..steps {
            let (before, after) = work.hidden[t * state..(t + 2) * state].split_at_mut(state);
            let v = &mut work.recurrent[t * gates..(t + 1) * gates];
            let bias = &params[c.clone()];
            match packs {
                true => work.packed.product(before, Some(bias), v, &mut work.pack),
                false => matmul::forward(before, &params[u.clone()], bias, 1.0, v, &mut work.pack),
            }
            let u = &mut work.gates[t * gates..(t + 1) * gates];
            let (old, new) = work.memory[t * state..(t + 2) * state].split_at_mut(state);
            match self.kind {
                CellKind::Lstm => cell::lstm(u, v, old, new, after, self.hidden),
                CellKind::Gru => cell::gru(u, v, before, after, self.hidden),
            }
        }
        work.output()
    }

    /// Derivatives by the parameters of a loss, given those by h_1 … h_T of the last forward pass, which read `x`.
    ///
    /// The state before the pass counts as given: nothing flows back beyond it. A workspace can go back once.
    ///
    /// # Panics
    /// If the shapes do not fit the last forward pass.
    pub fn backward(
        &self,
        params: &[f32],
        x: &[f32],
        work: &mut RecurrentWork,
        d_out: &[f32],
        grad: &mut [f32],
    ) {
        let (steps, state, gates) = (work.steps, work.batch * self.hidden, work.batch * self.width());
        assert_eq!((d_out.len(), grad.len()), (steps * state, self.n_params()), "shapes");
        let [w, u, b, c] = self.ranges();
        work.d_hidden.fill(0.0);
        work.d_memory.fill(0.0);
        work.packed.set_transposed(&params[u.clone()], self.width());
        for t in (0..steps).rev() {
            work.d_hidden.iter_mut().zip(&d_out[t * state..]).for_each(|(d, out)| *d += out);
            self.step_back(t, work);
            let d_v = &work.recurrent[t * gates..(t + 1) * gates];
            work.packed.product(d_v, None, &mut work.d_before, &mut work.pack);
            work.d_hidden.iter_mut().zip(&work.d_before).for_each(|(d, before)| *d += before);
        }
        let (d_u, d_v) = (&work.gates[..steps * gates], &work.recurrent[..steps * gates]);
        matmul::to_weights(x, d_u, self.width(), &mut grad[w], &mut work.pack);
        let before = &work.hidden[..steps * state];
        matmul::to_weights(before, d_v, self.width(), &mut grad[u], &mut work.pack);
        crate::filters::column_sums(d_u, &mut grad[b]);
        crate::filters::column_sums(d_v, &mut grad[c]);
    }

    /// Takes the derivatives by the state after step t to those by its gates and, but for U, by the state before.
    fn step_back(&self, t: usize, work: &mut RecurrentWork) {
        let (state, gates) = (work.batch * self.hidden, work.batch * self.width());
        let at = |t: usize| t * state..(t + 1) * state;
        let u = &mut work.gates[t * gates..(t + 1) * gates];
        let v = &mut work.recurrent[t * gates..(t + 1) * gates];
        let (d_hidden, d_memory) = (&mut work.d_hidden, &mut work.d_memory);
        match self.kind {
            CellKind::Lstm => {
                let (old, new) = (&work.memory[at(t)], &work.memory[at(t + 1)]);
                cell::lstm_back(u, v, old, new, d_hidden, d_memory, self.hidden);
            }
            CellKind::Gru => cell::gru_back(u, v, &work.hidden[at(t)], d_hidden, self.hidden),
        }
    }
}
