//! How far each channel will still go: the discounted mean of its speeds to come under the policy, learned by temporal
//! differences.
//!
//! V(o) = E Σ_i (1 − γ) γⁱ c_i with c_j = min(|Δ_j|, [`FASTEST`]), Δ the change of the observation in nominal units. The network
//! learns V(o) ← (1 − γ) c + γ V(o′), of which the right side is taken as it is.

use super::one_step::{Rows, Units};
use super::prelude::*;
use super::ranges::{Fraction, Hidden, TooLarge};
use super::saved;
use super::training::{Model, Training};
use offnominal_nets::loss::mse;
use offnominal_nets::{Activation, Gradients, Init, Mlp, Workspace};

/// The fastest that counts, so that a rare jump does not rule what is learned.
const FASTEST: f32 = 10.0;
/// The farthest observation, in standard deviations: beyond, the network is not asked.
const FARTHEST: f32 = 10.0;

/// The function, with the buffers of one question. Forks share the network.
#[derive(Clone)]
pub(crate) struct Value {
    shared: Arc<Trained>,
    work: Workspace,
    inputs: Vec<f32>,
    targets: Vec<f32>,
}

struct Trained {
    units: Units,
    net: Mlp,
    params: Vec<f32>,
    discount: f64,
}

fn sizes(units: &Units, width: NonZeroUsize) -> Result<Vec<usize>, TooLarge> {
    Hidden::two(width).sizes(1, units.n_targets(), units.n_targets())
}

impl Value {
    /// Learns from the first episodes; the second tell when to stop.
    pub fn fit(
        units: Units,
        [train, validation]: [&[Signals<'_>]; 2],
        (discount, width): (Fraction, NonZeroUsize),
        training: &Training,
        rng: &mut Rng,
        progress: FitProgress<'_>,
    ) -> Result<Value, FitError> {
        let net = Mlp::new(&sizes(&units, width)?, Activation::Tanh);
        let [train, validation] = [train, validation].map(|episodes| rows(&units, episodes));
        let mut params = net.first_params(Init::Uniform, rng);
        let mut sample: Vec<u32> = (0..train.episodes.last().map_or(0, |e| e.end)).collect();
        let mut model = Difference::new(&net, discount.get(), training.batch);
        training.run(&mut model, &mut params, (&train, &mut sample), &validation, rng, progress)?;
        Ok(Value::new(Trained { units, net, params, discount: discount.get() }))
    }

    fn new(trained: Trained) -> Value {
        let n = trained.units.n_targets();
        let work = trained.net.workspace(2);
        Value { work, inputs: vec![0.0; 2 * n], targets: vec![0.0; n], shared: Arc::new(trained) }
    }

    /// Writes units and network.
    pub fn save(&self, to: &mut Writer<'_>) {
        self.shared.units.save(&mut to.part("units"));
        to.put("params", &self.shared.params);
    }

    /// Reads a network of such a width.
    pub fn load(from: &Reader<'_>, discount: Fraction, width: NonZeroUsize) -> Result<Value, ArchiveError> {
        let units = Units::load(&from.part("units"))?;
        let net = Mlp::new(&saved::widths(from, sizes(&units, width))?, Activation::Tanh);
        let params = saved::params(from, &net)?;
        Ok(Value::new(Trained { units, net, params, discount: discount.get() }))
    }

    /// Number of channels.
    pub fn width(&self) -> usize {
        self.targets.len()
    }

    /// The observation channels that it is of.
    pub fn channels(&self) -> &[usize] {
        self.shared.units.channels()
    }

    /// Writes δ = (1 − γ) c + γ V(o′) − V(o).
    pub fn difference(&mut self, seen: &Transition<'_>, delta: &mut [f64]) {
        let Trained { units, net, params, discount } = &*self.shared;
        pair(units, seen, &mut self.inputs, &mut self.targets);
        let (before, after) = net.forward(params, &self.inputs, &mut self.work).split_at(self.targets.len());
        for ((delta, c), (before, after)) in delta.iter_mut().zip(&self.targets).zip(before.iter().zip(after))
        {
            *delta = (1.0 - discount) * f64::from(*c) + discount * f64::from(*after) - f64::from(*before);
        }
    }
}

/// δ of each step of an episode, `[T, d]`.
pub(crate) fn differences(value: &mut Value, episode: &Signals<'_>) -> Vec<f64> {
    let d = value.width();
    let mut all = vec![0.0; episode.len() * d];
    episode
        .transitions()
        .zip(all.chunks_exact_mut(d))
        .for_each(|(seen, delta)| value.difference(&seen, delta));
    all
}

/// Writes the observations before and after a step, and the speeds.
fn pair(units: &Units, seen: &Transition<'_>, inputs: &mut [f32], speeds: &mut [f32]) {
    let (before, after) = inputs.split_at_mut(speeds.len());
    units.observation(seen.obs, before);
    units.observation(seen.next_obs, after);
    inputs.iter_mut().for_each(|x| *x = x.clamp(-FARTHEST, FARTHEST));
    units.change(seen, speeds);
    speeds.iter_mut().for_each(|c| *c = c.abs().min(FASTEST));
}

/// Inputs are pairs of observations, targets are speeds.
fn rows(units: &Units, episodes: &[Signals<'_>]) -> Rows {
    let (n, d): (usize, usize) = (episodes.iter().map(Signals::len).sum(), units.n_targets());
    let mut rows = Rows { inputs: vec![0.0; 2 * n * d], targets: vec![0.0; n * d], episodes: vec![] };
    let places = rows.inputs.chunks_exact_mut(2 * d).zip(rows.targets.chunks_exact_mut(d));
    for (seen, (inputs, targets)) in episodes.iter().flat_map(|e| e.transitions()).zip(places) {
        pair(units, &seen, inputs, targets);
    }
    rows.episodes.push(0..n as u32);
    rows
}

/// The network in training.
struct Difference {
    net: Mlp,
    work: Workspace,
    discount: f32,
    before: Vec<f32>,
    after: Vec<f32>,
    goal: Vec<f32>,
    slope: Vec<f32>,
}

impl Difference {
    fn new(net: &Mlp, discount: f64, batch: NonZeroUsize) -> Difference {
        let [before, after, goal, slope] = [(); 4].map(|()| vec![]);
        let work = net.workspace(batch.get());
        Difference { net: net.clone(), work, discount: discount as f32, before, after, goal, slope }
    }
}

impl Model for Difference {
    fn gradient(
        &mut self,
        params: &[f32],
        pairs: &[f32],
        speeds: &[f32],
        grad: &mut [f32],
        _: &mut Rng,
    ) -> f64 {
        let loss = self.loss(params, pairs, speeds);
        self.net.backward(params, &self.before, &mut self.work, &self.slope, Gradients::params(grad));
        loss
    }

    fn loss(&mut self, params: &[f32], pairs: &[f32], speeds: &[f32]) -> f64 {
        let d = self.net.outputs();
        self.before.clear();
        self.after.clear();
        for pair in pairs.chunks_exact(2 * d) {
            self.before.extend_from_slice(&pair[..d]);
            self.after.extend_from_slice(&pair[d..]);
        }
        let ahead = self.net.forward(params, &self.after, &mut self.work);
        self.goal.clear();
        self.goal
            .extend(ahead.iter().zip(speeds).map(|(v, c)| (1.0 - self.discount) * c + self.discount * v));
        self.slope.resize(speeds.len(), 0.0);
        mse(self.net.forward(params, &self.before, &mut self.work), &self.goal, &mut self.slope)
    }

    fn widths(&self) -> (usize, usize) {
        (2 * self.net.inputs(), self.net.outputs())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shared::scale::Constant;

    #[test]
    fn the_way_still_to_go_is_that_of_a_geometric_decay() {
        // x halves: |Δx| = x/2 in each step, so V(x) = (1 − γ) Σ γⁱ x / 2ⁱ⁺¹ = (1 − γ) x / (2 − γ), in units of the change.
        let episodes: Vec<Vec<f32>> =
            (0..20).map(|i| (0..9).map(|t| (4.0 + i as f32) * (0.5_f32).powi(t)).collect()).collect();
        let train: Vec<_> = episodes.iter().map(|o| Signals::new(o, &[], 1, 0)).collect();
        let units = Units::fit(&train, Constant::Dropped);
        let training = Training { epochs: count(150), batch: count(16), ..Training::brief() };
        let recipe = (Fraction::new(0.5), count(16));
        let progress = FitProgress::unseen();
        let mut value =
            Value::fit(units, [&train, &[]], recipe, &training, &mut Rng::new(1), progress).unwrap();
        let mut delta = [0.0];
        for at in [2.0_f32, 8.0] {
            value.difference(&Transition { obs: &[at], action: &[], next_obs: &[at / 2.0] }, &mut delta);
            assert!(delta[0].abs() < 0.08, "{at}: {delta:?}");
            value.difference(&Transition { obs: &[at], action: &[], next_obs: &[-at] }, &mut delta);
            assert!(delta[0] > 0.1, "{at}: {delta:?}");
        }
    }
}
