//! The network: its parts, its parameters, and both passes.

use offnominal_core::Rng;
use offnominal_nets::{Activation, CellKind, Gradients, Init, Mlp, Recurrent, RecurrentWork, Workspace};
use std::ops::Range;

/// Numbers that an instruction is made of before it sets the first state.
const SAID: usize = 16;

/// Numbers of x_t.
pub(super) const INPUTS: usize = 3;
/// Units of the LSTM.
const HIDDEN: usize = 32;
/// Sizes of the MLP that reads them and x_t.
const HEAD: [usize; 4] = [HIDDEN + INPUTS, 16, 8, 1];

/// The shape of a network. Parameters are passed to each call.
#[derive(Debug, Clone)]
pub struct Net {
    /// The instruction as a few numbers, and from those h₀ and s₀.
    start: [Mlp; 2],
    memory: Recurrent,
    head: Mlp,
}

/// What both passes of a batch write to.
pub(super) struct Work {
    start: [Workspace; 2],
    memory: RecurrentWork,
    head: Workspace,
    /// What the LSTM kept of each unit, `[T, batch, hidden]`.
    mask: Vec<f32>,
    /// \[h_t, x_t\], `[T, batch, hidden + inputs]`.
    joined: Vec<f32>,
}

/// Rollouts side by side, padded to the longest.
pub(super) struct Batch {
    /// `[batch, D]`.
    pub(super) instructions: Vec<f32>,
    /// x_t, `[T, batch, inputs]`.
    pub(super) x: Vec<f32>,
    /// Number of each rollout in the data.
    pub(super) rollouts: Vec<usize>,
    /// Length of each rollout.
    pub(super) lengths: Vec<usize>,
}

/// Units that are dropped in training: with which probability, and drawn by what.
pub(super) type Dropout<'r> = Option<(f64, &'r mut Rng)>;

impl Net {
    /// A network that reads instructions of so many numbers.
    pub fn new(instruction: usize) -> Net {
        let start = [
            Mlp::new(&[instruction, SAID], Activation::Relu).with_output(Activation::Relu),
            Mlp::new(&[SAID, 2 * HIDDEN], Activation::Relu),
        ];
        let memory = Recurrent::new(CellKind::Lstm, INPUTS, HIDDEN);
        Net { start, memory, head: Mlp::new(&HEAD, Activation::Relu) }
    }

    /// Number of parameters.
    pub fn n_params(&self) -> usize {
        self.ranges()[3].end
    }

    /// Where the parameters of the parts lie: of the two that read the instruction, of the LSTM and of the MLP.
    fn ranges(&self) -> [Range<usize>; 4] {
        let [first, second] = self.start.each_ref().map(Mlp::n_params);
        let mut end = 0;
        [first, second, self.memory.n_params(), self.head.n_params()].map(|size| {
            end += size;
            end - size..end
        })
    }

    /// The first parameters.
    pub(super) fn init(&self, rng: &mut Rng) -> Vec<f32> {
        let (mut params, [said, state, memory, head]) = (vec![0.0; self.n_params()], self.ranges());
        self.start[0].init(&mut params[said], Init::Uniform, rng);
        self.start[1].init(&mut params[state], Init::Uniform, rng);
        self.memory.init(&mut params[memory], rng);
        self.head.init(&mut params[head], Init::Uniform, rng);
        params
    }

    pub(super) fn work(&self, steps: usize, batch: usize) -> Work {
        Work {
            start: self.start.each_ref().map(|net| net.workspace(batch)),
            memory: self.memory.workspace(steps, batch),
            head: self.head.workspace(steps * batch),
            mask: vec![1.0; steps * batch * HIDDEN],
            joined: vec![0.0; steps * batch * HEAD[0]],
        }
    }

    /// Sets the state before the first step, from the instruction of each rollout, `[batch, D]`.
    pub(super) fn begin(&self, params: &[f32], instructions: &[f32], work: &mut Work) {
        let [said, state, ..] = self.ranges();
        let ([first, second], [a, b]) = (&self.start, &mut work.start);
        let said = first.forward(&params[said], instructions, a);
        let both = second.forward(&params[state], said, b);
        let half = |k: usize| -> Vec<f32> {
            both.chunks_exact(2 * HIDDEN)
                .flat_map(|row| row[k * HIDDEN..][..HIDDEN].iter().copied())
                .collect()
        };
        work.memory.begin(&half(0), &half(1));
    }

    /// What comes out at each of the next steps, `[T, batch]`.
    pub(super) fn forward<'w>(
        &self,
        params: &[f32],
        x: &[f32],
        work: &'w mut Work,
        dropout: Dropout<'_>,
    ) -> &'w [f32] {
        let [.., memory, head] = self.ranges();
        let out = self.memory.forward(&params[memory], x, &mut work.memory);
        let mask = &mut work.mask[..out.len()];
        match dropout {
            None => mask.fill(1.0),
            Some((share, rng)) => {
                let kept = (1.0 / (1.0 - share)) as f32;
                mask.iter_mut().for_each(|m| *m = if rng.uniform() < share { 0.0 } else { kept });
            }
        }
        let rows = out.chunks_exact(HIDDEN).zip(mask.chunks_exact(HIDDEN)).zip(x.chunks_exact(INPUTS));
        let joined = &mut work.joined[..x.len() / INPUTS * HEAD[0]];
        for (((h, mask), x), to) in rows.zip(joined.chunks_exact_mut(HEAD[0])) {
            to.iter_mut().zip(h.iter().zip(mask)).for_each(|(to, (h, m))| *to = h * m);
            to[HIDDEN..].copy_from_slice(x);
        }
        self.head.forward(&params[head], joined, &mut work.head)
    }

    /// The loss of a batch, and its derivatives by the parameters; `objective` gives the loss of what comes out, and its
    /// derivatives.
    pub(super) fn descend(
        &self,
        params: &[f32],
        batch: &Batch,
        work: &mut Work,
        dropout: Dropout<'_>,
        grad: &mut [f32],
        objective: &dyn Fn(&[f32], &mut [f32]) -> f64,
    ) -> f64 {
        self.begin(params, &batch.instructions, work);
        let out = self.forward(params, &batch.x, work, dropout);
        let mut d_out = vec![0.0; out.len()];
        let loss = objective(out, &mut d_out);
        self.backward(params, batch, work, &d_out, grad);
        loss
    }

    fn backward(&self, params: &[f32], batch: &Batch, work: &mut Work, d_out: &[f32], grad: &mut [f32]) {
        let [said, state, memory, head] = self.ranges();
        let mut d_hidden = vec![0.0; d_out.len() * HIDDEN];
        let wanted =
            Gradients { params: Some(&mut grad[head.clone()]), input: Some((0..HIDDEN, &mut d_hidden)) };
        let joined = &work.joined[..d_out.len() * HEAD[0]];
        self.head.backward(&params[head], joined, &mut work.head, d_out, wanted);
        d_hidden.iter_mut().zip(&work.mask).for_each(|(d, mask)| *d *= mask);
        let (own, of) = (&params[memory.clone()], &mut grad[memory]);
        self.memory.backward(own, &batch.x, &mut work.memory, &d_hidden, of);
        let ([first, second], [a, b]) = (&self.start, &mut work.start);
        let [d_h, d_s] = work.memory.d_state();
        let both = d_h.chunks_exact(HIDDEN).zip(d_s.chunks_exact(HIDDEN));
        let d_state: Vec<f32> = both.flat_map(|(h, s)| h.iter().chain(s).copied()).collect();
        let words = a.output().to_vec();
        let mut d_words = vec![0.0; words.len()];
        let wanted =
            Gradients { params: Some(&mut grad[state.clone()]), input: Some((0..SAID, &mut d_words)) };
        second.backward(&params[state], &words, b, &d_state, wanted);
        let wanted = Gradients::params(&mut grad[said.clone()]);
        first.backward(&params[said], &batch.instructions, a, &d_words, wanted);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn normals(n: usize, rng: &mut Rng) -> Vec<f32> {
        (0..n).map(|_| rng.normal() as f32).collect()
    }

    #[test]
    fn derivatives_are_those_of_the_loss() {
        let net = Net::new(5);
        let mut rng = Rng::new(3);
        let batch = Batch {
            instructions: normals(2 * 5, &mut rng),
            x: normals(4 * 2 * 3, &mut rng),
            rollouts: vec![0, 1],
            lengths: vec![4, 2],
        };
        let wanted = normals(4 * 2, &mut rng);
        let squares = |out: &[f32], d: &mut [f32]| -> f64 {
            let each = out.iter().zip(&wanted).zip(d);
            each.map(|((o, w), d)| {
                *d = 2.0 * (o - w);
                f64::from(o - w).powi(2)
            })
            .sum()
        };
        let mut params = net.init(&mut Rng::new(4));
        let (mut work, mut grad) = (net.work(4, 2), vec![0.0; net.n_params()]);
        // The same units are dropped each time.
        let mut loss = |params: &[f32], grad: &mut [f32]| {
            net.descend(params, &batch, &mut work, Some((0.4, &mut Rng::new(7))), grad, &squares)
        };
        loss(&params, &mut grad);
        let exact = grad.clone();
        let mut checked = 0;
        for i in (0..params.len()).step_by(7) {
            let (before, h) = (params[i], 1e-3);
            params[i] = before + h;
            let up = loss(&params, &mut grad);
            params[i] = before - h;
            let down = loss(&params, &mut grad);
            params[i] = before;
            let slope = (up - down) / f64::from(2.0 * h);
            let room = 2e-3 * (1.0 + slope.abs());
            assert!((slope - f64::from(exact[i])).abs() < room, "parameter {i}: {slope} and {}", exact[i]);
            checked += usize::from(exact[i].abs() > 1e-3);
        }
        assert!(checked > 10, "{checked} derivatives that are not zero");
    }

    #[test]
    fn step_by_step_gives_the_bits_of_the_whole() {
        let (net, mut rng) = (Net::new(2), Rng::new(1));
        let (params, x) = (net.init(&mut rng), normals(10 * 3, &mut rng));
        let mut work = net.work(10, 1);
        net.begin(&params, &[0.5, 1.0], &mut work);
        let whole = net.forward(&params, &x, &mut work, None).to_vec();
        let mut work = net.work(1, 1);
        net.begin(&params, &[0.5, 1.0], &mut work);
        let each = x.chunks_exact(3).flat_map(|x| net.forward(&params, x, &mut work, None).to_vec());
        assert_eq!(whole, each.collect::<Vec<f32>>());
    }
}
