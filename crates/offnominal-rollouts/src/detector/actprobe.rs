//! ActProbe's probe (arXiv 2606.08508), trained anew from its description: an LSTM and an MLP that read two signals of the
//! chunks and the time, and begin with what the task's instruction says.
//!
//! With x_t = [z(magnitude), z(consistency error), t / 100], z by mean and deviation of all steps that are learned from:
//!
//! | part | shape | parameters |
//! |---|---|---|
//! | instruction | D → 16, ReLU | 16 D + 16 |
//! | h₀ and s₀ of the LSTM | 16 → 32 each | 1,088 |
//! | LSTM | 3 → 32, its output dropped with probability .4 in training | 4,736 |
//! | MLP on \[h_t, x_t\] | 35 → 16 → 8 → 1, ReLU, then a logistic function | 721 |
//!
//! With D = 1,024 these are 22,945. Every step of a rollout has the rollout's outcome as its label, so long rollouts weigh
//! more. Training minimises the cross entropy by AdamW (rate 1e-3 on a cosine over 400 passes, decay 1e-4, gradients cut at
//! norm 1, 64 rollouts at once); each five passes it ranks the held-out rollouts by `task-max` ¼, keeps the best network, and
//! stops after 50 passes without a better one. The signals are called `acm` and `tce`, or `action_norm` and `chunk_mse`.
//!
//! Deviates: without embeddings of instructions D is the number of tasks and the instruction is the task's number; weights
//! are drawn by our generator, so a seed gives other ones than PyTorch's.

mod inputs;
pub mod net;
mod training;

use super::{Fitted, Lesson};
use crate::rollout::Rollouts;
use anyhow::{Context as _, Result};
use inputs::Inputs;
use net::Net;
use offnominal_nets::sigmoid;

/// Places of the magnitude and of the consistency error.
pub(super) fn signals(data: &Rollouts) -> Result<Vec<usize>> {
    let named = |names: [&str; 2]| {
        let found = data.signals.iter().position(|signal| names.contains(&signal.as_str()));
        found.with_context(|| {
            format!("actprobe: expected a signal {} or {}, found neither", names[0], names[1])
        })
    };
    Ok(vec![named(["acm", "action_norm"])?, named(["tce", "chunk_mse"])?])
}

/// The trained network, and what it reads.
pub(super) struct ActProbe {
    inputs: Inputs,
    net: Net,
    params: Vec<f32>,
}

impl ActProbe {
    /// Trains it.
    pub(super) fn fit(lesson: &Lesson<'_>) -> Result<ActProbe> {
        let inputs = Inputs::of(lesson)?;
        let net = Net::new(inputs.instruction(0).len());
        let params = training::train(&net, &inputs, lesson)?;
        Ok(ActProbe { inputs, net, params })
    }
}

impl Fitted for ActProbe {
    fn scores(&self, data: &Rollouts, rollout: usize) -> Vec<f64> {
        let mut work = self.net.work(1, 1);
        self.net.begin(&self.params, self.inputs.instruction(data.rollouts[rollout].task), &mut work);
        let rows = self.inputs.rows(data, rollout);
        let steps = rows.chunks_exact(net::INPUTS);
        steps.map(|x| f64::from(sigmoid(self.net.forward(&self.params, x, &mut work, None)[0]))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::net::Net;

    #[test]
    fn it_has_as_many_parameters_as_published() {
        assert_eq!(Net::new(1024).n_params(), 22_945);
    }
}
