//! The network: its parts, its parameters, and both passes.

use offnominal_core::Rng;
use offnominal_nets::{
    Activation, CellKind, Gradients, Init, Mlp, Recurrent, RecurrentWork, Workspace, sigmoid,
};
use std::ops::Range;

/// Units of the LSTM.
const HIDDEN: usize = 32;
/// Numbers of x_t.
pub(super) const INPUTS: usize = 3;
/// Share of the LSTM's output that is dropped in training.
const DROPOUT: f64 = 0.4;

/// The shape of the network. Parameters are passed to each call.
#[derive(Debug, Clone)]
pub struct Probe {
    language: Mlp,
    /// h₀, then s₀.
    start: Mlp,
    memory: Recurrent,
    head: Mlp,
}

/// What both passes of a batch write to.
pub(super) struct Work {
    language: Workspace,
    start: Workspace,
    memory: RecurrentWork,
    head: Workspace,
    /// What the LSTM kept of each unit, `[T, batch, HIDDEN]`.
    mask: Vec<f32>,
    /// \[h_t, x_t\], `[T, batch, HIDDEN + INPUTS]`.
    joined: Vec<f32>,
}

/// Rollouts side by side, padded to the longest.
pub(super) struct Batch {
    /// `[batch, D]`.
    pub(super) instructions: Vec<f32>,
    /// x_t, `[T, batch, INPUTS]`.
    pub(super) x: Vec<f32>,
    /// Length of each rollout.
    pub(super) lengths: Vec<usize>,
    /// Whether each fails.
    pub(super) fails: Vec<bool>,
}

impl Probe {
    /// A network for instructions of a width.
    pub fn new(instruction: usize) -> Probe {
        Probe {
            language: Mlp::new(&[instruction, 16], Activation::Relu).with_output(Activation::Relu),
            start: Mlp::new(&[16, 2 * HIDDEN], Activation::Relu),
            memory: Recurrent::new(CellKind::Lstm, INPUTS, HIDDEN),
            head: Mlp::new(&[HIDDEN + INPUTS, 16, 8, 1], Activation::Relu),
        }
    }

    /// Number of parameters.
    pub fn n_params(&self) -> usize {
        self.ranges()[3].end
    }

    /// Where the parameters of the parts lie.
    fn ranges(&self) -> [Range<usize>; 4] {
        let sizes =
            [self.language.n_params(), self.start.n_params(), self.memory.n_params(), self.head.n_params()];
        let mut end = 0;
        sizes.map(|size| {
            end += size;
            end - size..end
        })
    }

    /// The first parameters.
    pub(super) fn init(&self, rng: &mut Rng) -> Vec<f32> {
        let (mut params, [language, start, memory, head]) = (vec![0.0; self.n_params()], self.ranges());
        self.language.init(&mut params[language], Init::Uniform, rng);
        self.start.init(&mut params[start], Init::Uniform, rng);
        self.memory.init(&mut params[memory], rng);
        self.head.init(&mut params[head], Init::Uniform, rng);
        params
    }

    pub(super) fn work(&self, steps: usize, batch: usize) -> Work {
        Work {
            language: self.language.workspace(batch),
            start: self.start.workspace(batch),
            memory: self.memory.workspace(steps, batch),
            head: self.head.workspace(steps * batch),
            mask: vec![1.0; steps * batch * HIDDEN],
            joined: vec![0.0; steps * batch * (HIDDEN + INPUTS)],
        }
    }

    /// The logit of each step, `[T, batch]`; units are dropped if there is a generator.
    pub(super) fn forward<'w>(
        &self,
        params: &[f32],
        (instructions, x): (&[f32], &[f32]),
        work: &'w mut Work,
        rng: Option<&mut Rng>,
    ) -> &'w [f32] {
        let [language, start, memory, head] = self.ranges();
        let said = self.language.forward(&params[language], instructions, &mut work.language);
        let state = self.start.forward(&params[start], said, &mut work.start);
        let half = |k: usize| -> Vec<f32> {
            state
                .chunks_exact(2 * HIDDEN)
                .flat_map(|row| row[k * HIDDEN..][..HIDDEN].iter().copied())
                .collect()
        };
        let (hidden, cell) = (half(0), half(1));
        work.memory.begin(&hidden, &cell);
        let out = self.memory.forward(&params[memory], x, &mut work.memory);
        let mask = &mut work.mask[..out.len()];
        match rng {
            None => mask.fill(1.0),
            Some(rng) => {
                let kept = (1.0 / (1.0 - DROPOUT)) as f32;
                mask.iter_mut().for_each(|m| *m = if rng.uniform() < DROPOUT { 0.0 } else { kept });
            }
        }
        let rows = out.chunks_exact(HIDDEN).zip(mask.chunks_exact(HIDDEN)).zip(x.chunks_exact(INPUTS));
        let joined = &mut work.joined[..x.len() / INPUTS * (HIDDEN + INPUTS)];
        for (((h, mask), x), to) in rows.zip(joined.chunks_exact_mut(HIDDEN + INPUTS)) {
            to.iter_mut().zip(h.iter().zip(mask)).for_each(|(to, (h, m))| *to = h * m);
            to[HIDDEN..].copy_from_slice(x);
        }
        self.head.forward(&params[head], joined, &mut work.head)
    }

    /// The mean cross entropy over the steps of a batch, and its derivatives by the parameters.
    pub(super) fn loss(
        &self,
        params: &[f32],
        batch: &Batch,
        work: &mut Work,
        rng: Option<&mut Rng>,
        grad: &mut [f32],
    ) -> f64 {
        let n = batch.lengths.len();
        let logits = self.forward(params, (&batch.instructions, &batch.x), work, rng);
        let mut d_logits = vec![0.0; logits.len()];
        let (steps, mut loss) = (batch.lengths.iter().sum::<usize>() as f64, 0.0);
        for (t, (logits, d)) in logits.chunks_exact(n).zip(d_logits.chunks_exact_mut(n)).enumerate() {
            for i in (0..n).filter(|&i| t < batch.lengths[i]) {
                let (z, label) = (f64::from(logits[i]), f64::from(u8::from(batch.fails[i])));
                loss += z.max(0.0) + (-z.abs()).exp().ln_1p() - label * z;
                d[i] = ((1.0 / (1.0 + (-z).exp()) - label) / steps) as f32;
            }
        }
        self.backward(params, batch, work, &d_logits, grad);
        loss / steps
    }

    fn backward(&self, params: &[f32], batch: &Batch, work: &mut Work, d_logits: &[f32], grad: &mut [f32]) {
        let [language, start, memory, head] = self.ranges();
        let rows = d_logits.len();
        let mut d_out = vec![0.0; rows * HIDDEN];
        let wanted =
            Gradients { params: Some(&mut grad[head.clone()]), input: Some((0..HIDDEN, &mut d_out)) };
        let joined = &work.joined[..rows * (HIDDEN + INPUTS)];
        self.head.backward(&params[head], joined, &mut work.head, d_logits, wanted);
        d_out.iter_mut().zip(&work.mask).for_each(|(d, mask)| *d *= mask);
        self.memory.backward(&params[memory.clone()], &batch.x, &mut work.memory, &d_out, &mut grad[memory]);
        let [hidden, cell] = work.memory.d_state();
        let both = hidden.chunks_exact(HIDDEN).zip(cell.chunks_exact(HIDDEN));
        let d_state: Vec<f32> = both.flat_map(|(h, s)| h.iter().chain(s).copied()).collect();
        let said = work.language.output().to_vec();
        let mut d_said = vec![0.0; said.len()];
        let wanted = Gradients { params: Some(&mut grad[start.clone()]), input: Some((0..16, &mut d_said)) };
        self.start.backward(&params[start], &said, &mut work.start, &d_state, wanted);
        let wanted = Gradients::params(&mut grad[language.clone()]);
        self.language.backward(&params[language], &batch.instructions, &mut work.language, &d_said, wanted);
    }

    /// The probability of failure at each step of one rollout, from its instruction and x_t.
    pub fn scores(&self, params: &[f32], instruction: &[f32], x: &[f32]) -> Vec<f64> {
        let mut work = self.work(x.len() / INPUTS, 1);
        let logits = self.forward(params, (instruction, x), &mut work, None);
        logits.iter().map(|&z| f64::from(sigmoid(z))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_has_as_many_parameters_as_published() {
        assert_eq!(Probe::new(1024).n_params(), 22_945);
    }

    #[test]
    fn derivatives_are_those_of_the_loss() {
        let probe = Probe::new(5);
        let mut rng = Rng::new(3);
        let mut normals = |n: usize| -> Vec<f32> { (0..n).map(|_| rng.normal() as f32).collect() };
        let batch = Batch {
            instructions: normals(2 * 5),
            x: normals(4 * 2 * INPUTS),
            lengths: vec![4, 2],
            fails: vec![true, false],
        };
        let mut params = probe.init(&mut Rng::new(4));
        let (mut work, mut grad) = (probe.work(4, 2), vec![0.0; probe.n_params()]);
        // The same units are dropped each time.
        let mut loss = |params: &[f32], grad: &mut [f32]| {
            probe.loss(params, &batch, &mut work, Some(&mut Rng::new(7)), grad)
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
            assert!((slope - f64::from(exact[i])).abs() < 2e-3, "parameter {i}: {slope} and {}", exact[i]);
            checked += usize::from(exact[i].abs() > 1e-3);
        }
        assert!(checked > 10, "{checked} derivatives that are not zero");
    }

    #[test]
    fn a_score_does_not_depend_on_later_steps() {
        let probe = Probe::new(2);
        let params = probe.init(&mut Rng::new(1));
        let x: Vec<f32> = (0..30).map(|i| (i as f32).sin()).collect();
        let whole = probe.scores(&params, &[0.5, 1.0], &x);
        assert_eq!(whole[..4], probe.scores(&params, &[0.5, 1.0], &x[..12]));
    }
}
