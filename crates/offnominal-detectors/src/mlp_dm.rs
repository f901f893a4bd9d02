//! Error of a network that predicts the next observation.
//!
//! score(o, a, o′) = 1/d Σ_j (f_j(o, a) − t_j)², with t_j = (o′_j − o_j − m_j) / s_j.
//!
//! | symbol     | meaning                                                                              |
//! |------------|--------------------------------------------------------------------------------------|
//! | o, a       | observation and action, standardised, constant channels dropped                     |
//! | t          | change of the observation, centred and in units of its nominal deviation             |
//! | s_j        | that deviation, but at least 1 % of the deviation of the channel itself              |
//! | d          | observation channels that vary                                                       |
//! | f          | 512-256-128 rectified units, trained on nominal transitions by mean squared error    |
//!
//! Assumes: nominal dynamics are a nearly deterministic function of observation and action.
//! Blind to: anomalies that keep the dynamics, such as a constant offset of a sensor once it is there; faults smaller
//! than the prediction error.
//! Cost: fit O(epochs · n · parameters), score O(parameters): 0.2 million for 18 channels.
//! Reference: MLP-DM of Anomaly-Gym, Table 11: AdamW 1e-3, weight decay 1e-4, 250 epochs, dropout 0.1 after the first
//! layer.  Deviates: changes are measured in units of their own deviation, not of the observation's, so that slow and
//! fast channels weigh alike; batches hold 256 shuffled transitions, not one episode.
//!
//! ```
//! use offnominal_core::detector::{Nominal, Signals};
//! use offnominal_core::transition::Transition;
//! use offnominal_core::Rng;
//! // Observations that never change: nothing varies, the target is zero, and so is what the network learns.
//! let nominal = Signals::new(&[5.0; 9], &[0.0; 8], 1, 1);
//! let recipe = serde_json::json!({"hidden": [8], "training": {"epochs": 300, "lr": 0.01}});
//! let mlp = offnominal_detectors::catalogue().build("mlp-dm", &recipe).unwrap();
//! let mut monitor = mlp.fit(Nominal::new(&[nominal], &[]), &mut Rng::new(0)).unwrap();
//! assert!(monitor.score(&nominal.transition(0)) < 1e-3);
//! ```

use crate::shared::dynamics::{Data, Ensemble};
use crate::shared::one_step::{Units, mean_square};
use crate::shared::prelude::*;
use crate::shared::ranges::{Fraction, Hidden};
use crate::shared::saved;
use crate::shared::scale::Constant;
use crate::shared::training::{Model, Training};
use offnominal_nets::loss::mse;
use offnominal_nets::{Activation, Gradients, Init, Mlp, Workspace};

recipe! {
    /// The recipe.
    pub struct MlpDm {
        /// Widths of the hidden layers.
        pub hidden: Hidden = Hidden::default(),
        /// Probability with which a unit of the first layer is dropped in training.
        pub dropout: Fraction = Fraction::new(0.1),
        /// How the network is trained.
        pub training: Training = Training::default(),
        /// Whether channels that are constant in training are kept, as the released code of Anomaly-Gym does: it magnifies what
        /// becomes of them a million times.
        pub keep_constant_channels: bool = false,
    }
}

/// The entry of [`MlpDm`].
pub const ENTRY: Entry<dyn Detector> =
    entry!(MlpDm as dyn Detector, "mlp-dm", "error of a network that predicts the next observation");

impl Detector for MlpDm {
    fn fit(&self, nominal: Nominal<'_>, rng: &mut Rng) -> Result<Box<dyn Scorer>, FitError> {
        let data = Data::new(nominal, &self.training, Constant::kept_if(self.keep_constant_channels))?;
        let sizes = self.hidden.sizes(1, data.units.n_inputs(), data.units.n_targets())?;
        let net = Mlp::new(&sizes, Activation::Relu);
        let params = net.first_params(Init::Uniform, rng);
        let mut model = Dropping::new(&sizes, self.dropout, self.training.batch.get());
        let params =
            data.train(&self.training, &mut model, (params, data.all_rows()), rng, nominal.progress)?;
        Ok(Box::new(Fitted { ensemble: Ensemble::new(data.units, net, vec![params]) }))
    }

    fn load(&self, from: &Reader<'_>, _: Option<&dyn Policy>) -> Result<Box<dyn Scorer>, ArchiveError> {
        let shape = |units: &Units| {
            let sizes = self.hidden.sizes(1, units.n_inputs(), units.n_targets());
            Ok(Mlp::new(&saved::widths(from, sizes)?, Activation::Relu))
        };
        Ok(Box::new(Fitted { ensemble: Ensemble::load(from, 1, shape)? }))
    }
}

/// The network in training: cut in two after the first hidden layer, whose units are dropped at random.
///
/// Parameters lie layer by layer, so those of the two parts, one after the other, are those of the whole.
struct Dropping {
    front: Mlp,
    back: Mlp,
    front_work: Workspace,
    back_work: Workspace,
    dropout: Fraction,
    /// Output of the front after dropping, and the factors that were applied to it.
    units: Vec<f32>,
    factors: Vec<f32>,
    d_units: Vec<f32>,
    d_output: Vec<f32>,
}

impl Dropping {
    fn new(sizes: &[usize], dropout: Fraction, batch: usize) -> Dropping {
        let front = Mlp::new(&sizes[..2], Activation::Relu).with_output(Activation::Relu);
        let back = Mlp::new(&sizes[1..], Activation::Relu);
        let (front_work, back_work) = (front.workspace(batch), back.workspace(batch));
        let [units, factors, d_units] = [(); 3].map(|()| vec![0.0; batch * sizes[1]]);
        let d_output = vec![0.0; batch * back.outputs()];
        Dropping { front, back, front_work, back_work, dropout, units, factors, d_units, d_output }
    }

    /// Draws the factors 0 or 1/(1 − p), four from each 64 random bits.
    fn draw(&mut self, n: usize, rng: &mut Rng) {
        let (p, n) = (self.dropout.get(), n * self.front.outputs());
        let (threshold, kept) = ((p * 65_536.0) as u16, (1.0 / (1.0 - p)) as f32);
        for four in self.factors[..n].chunks_mut(4) {
            let bits = rng.bits();
            for (i, factor) in four.iter_mut().enumerate() {
                *factor = if ((bits >> (16 * i)) as u16) < threshold { 0.0 } else { kept };
            }
        }
    }
}

impl Model for Dropping {
    fn gradient(
        &mut self,
        params: &[f32],
        inputs: &[f32],
        targets: &[f32],
        grad: &mut [f32],
        rng: &mut Rng,
    ) -> f64 {
        let n = inputs.len() / self.front.inputs();
        self.draw(n, rng);
        let (front, back) = params.split_at(self.front.n_params());
        let (d_front, d_back) = grad.split_at_mut(self.front.n_params());
        let n_units = n * self.front.outputs();
        let (units, factors) = (&mut self.units[..n_units], &self.factors[..n_units]);
        let (d_units, d_output) = (&mut self.d_units[..n_units], &mut self.d_output[..targets.len()]);
        units.copy_from_slice(self.front.forward(front, inputs, &mut self.front_work));
        multiply(units, factors);
        let loss = mse(self.back.forward(back, units, &mut self.back_work), targets, d_output);
        let wanted =
            Gradients { params: Some(d_back), input: Some((0..self.front.outputs(), &mut *d_units)) };
        self.back.backward(back, units, &mut self.back_work, d_output, wanted);
        multiply(d_units, factors);
        self.front.backward(front, inputs, &mut self.front_work, d_units, Gradients::params(d_front));
        loss
    }

    fn loss(&mut self, params: &[f32], inputs: &[f32], targets: &[f32]) -> f64 {
        let (front, back) = params.split_at(self.front.n_params());
        let units = self.front.forward(front, inputs, &mut self.front_work);
        let outputs = self.back.forward(back, units, &mut self.back_work);
        mse(outputs, targets, &mut self.d_output[..targets.len()])
    }

    fn widths(&self) -> (usize, usize) {
        (self.front.inputs(), self.back.outputs())
    }
}

fn multiply(values: &mut [f32], factors: &[f32]) {
    values.iter_mut().zip(factors).for_each(|(v, f)| *v *= f);
}

#[derive(Clone)]
struct Fitted {
    ensemble: Ensemble,
}

impl Scorer for Fitted {
    fn score(&mut self, seen: &Transition<'_>) -> f64 {
        let mut score = 0.0;
        self.ensemble.ask(seen, &mut |a| score = mean_square(a.output, a.target));
        score
    }

    fn missing(&self) -> Missing {
        Missing::Predicted
    }

    fn fill(&mut self, gaps: &mut Gaps<'_>) {
        self.ensemble.expect(gaps.obs, gaps.action, gaps.next_obs);
    }

    fn score_episode(&mut self, seen: &Signals<'_>, scores: &mut Vec<f64>) {
        scores.clear();
        scores.resize(seen.len(), 0.0);
        self.ensemble.ask_episode(seen, &mut |a| scores[a.step] = mean_square(a.output, a.target));
    }

    fn save(&self, to: &mut Writer<'_>) -> Result<(), ArchiveError> {
        self.ensemble.save(to);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gradients_are_those_of_finite_differences_under_the_same_mask() {
        let sizes = [3, 8, 5, 2];
        let net = Mlp::new(&sizes, Activation::Relu);
        let mut rng = Rng::new(4);
        let mut params = vec![0.0; net.n_params()];
        net.init(&mut params, Init::Uniform, &mut rng);
        let (mut inputs, mut targets) = (vec![0.0; 18], vec![0.0; 12]);
        rng.fill_normal(&mut inputs);
        rng.fill_normal(&mut targets);
        let mut model = Dropping::new(&sizes, Fraction::new(0.3), 6);
        let mut at = |params: &[f32], grad: &mut [f32]| {
            model.gradient(params, &inputs, &targets, grad, &mut Rng::new(9))
        };
        let (mut grad, mut unused) = (vec![f32::NAN; params.len()], vec![0.0; params.len()]);
        at(&params, &mut grad);
        for i in 0..params.len() {
            let mut moved = params.clone();
            let mut side = |shift: f32| {
                moved[i] = params[i] + shift;
                at(&moved, &mut unused)
            };
            let slope = (side(1e-3) - side(-1e-3)) / 2e-3;
            assert!((f64::from(grad[i]) - slope).abs() < 2e-3, "{i}: expected {slope}, found {}", grad[i]);
        }
    }

    #[test]
    fn dropping_keeps_the_mean() {
        let mut model = Dropping::new(&[1, 512, 1], Fraction::new(0.1), 256);
        model.draw(256, &mut Rng::new(1));
        let n = model.factors.len() as f64;
        let mean = model.factors.iter().map(|&f| f64::from(f)).sum::<f64>() / n;
        // Deviation of one factor: √(p / (1 − p)) = 1/3; six standard errors.
        assert!((mean - 1.0).abs() < 6.0 / 3.0 / n.sqrt(), "{mean}");
    }
}
