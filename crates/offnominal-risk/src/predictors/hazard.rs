//! f as the chance to meet with a failure at one of many places, which a convolution reads with what lies around each.
//!
//! A network gives every place t a logit zₜ, from the places within its reach and θ. The chance to pass all of them
//! is the product of the chances to pass each:
//!
//! f = 1 − Π (1 − σ(zₜ)) = 1 − exp(−H), where H = Σ ln(1 + exp zₜ) is the hazard of the whole way.
//!
//! | symbol | meaning                                | unit |
//! |--------|----------------------------------------|------|
//! | zₜ     | logit of failing at place t            | 1    |
//! | σ      | logistic function                      | 1    |
//! | H      | hazard, which adds up along the way    | 1    |
//!
//! Where it is known at which place T an episode failed, the likelihood is that of having passed all before and not this
//! one, σ(z_T) Π_{t<T} (1 − σ(zₜ)); what lies beyond was never tried. Else it is f.
//!
//! What is learned from a bend of one track holds for the same bend of any other, so that a few hundred failures are
//! enough. Trained by cross-entropy with Adam, whose rate falls to zero; several networks begin elsewhere and their
//! hazards are averaged.
//!
//! Assumes: a failure depends on what is near, given that all went well before. Blind to: what is beyond the reach.
//! Cost: linear in the number of places.
//! Reference: the continuation of Uesato et al. (2018), section 3.3; discrete-time hazards as in survival analysis (Cox,
//! JRSS B 34(2), 1972).

use crate::ensemble::{self, Plan, Validation};
use crate::examples::{Examples, NOWHERE};
use offnominal_core::Rng;
use offnominal_nets::{Adam, Init, SequenceLayer, SequenceNet, SequenceWorkspace, sigmoid, softplus};

/// Networks of one shape.
#[derive(Debug, Clone, PartialEq)]
pub struct Hazards {
    pub(crate) net: SequenceNet,
    pub(crate) params: Vec<Vec<f32>>,
}

/// Sequences per gradient step.
const BATCH: usize = 64;
/// Places that a filter reads, and its dilation in each hidden layer: 21 places to either side.
const WIDTH: usize = 7;
const DILATIONS: [usize; 3] = [1, 2, 4];
/// Share of the examples that is held out for validation, and how often it is used.
const HELD_OUT: f64 = 0.1;
const VALIDATIONS: usize = 20;
/// Chance to fail before anything is learned; small, as there are many places.
const FIRST_LOGIT: f32 = -5.0;
/// What is left of a hazard where only its shape counts.
const RARE: f64 = 0.1;
const ADAM: Adam = Adam { lr: 3e-3, beta1: 0.9, beta2: 0.999, eps: 1e-8, weight_decay: 1e-3 };

impl Hazards {
    /// A shape with so many filters in each hidden layer.
    fn shape(channels: usize, filters: usize) -> SequenceNet {
        let hidden = DILATIONS.map(|dilation| SequenceLayer::padded(WIDTH, dilation, filters));
        let last = [SequenceLayer::padded(1, 1, 1)];
        SequenceNet::new(channels, &[hidden.as_slice(), &last].concat())
    }

    /// Trains `members` networks for so many gradient steps, with the parameters that predict a held-out tenth of the
    /// examples best. That tenth is drawn from all policies: on later policies alone, which fail elsewhere,
    /// validation would end the training long before its learning rate has fallen.
    pub(crate) fn fit(
        filters: usize,
        members: usize,
        examples: &Examples,
        steps: usize,
        rng: &mut Rng,
    ) -> Hazards {
        let net = Hazards::shape(examples.row_width(), filters);
        let (train, held_out) = examples.split_at_random(HELD_OUT, rng);
        let last = net.layers().len() - 1;
        let draw = |_| {
            let mut params = vec![0.0; net.n_params()];
            net.init(&mut params, Init::Uniform, rng);
            params[net.biases(last)].fill(FIRST_LOGIT);
            params
        };
        let first = (0..members).map(draw).collect();
        let loss = |params: &[Vec<f32>], at: &Examples| {
            Hazards { net: net.clone(), params: params.to_vec() }.loss(at)
        };
        let validation = Validation { every: steps.div_ceil(VALIDATIONS), at: &held_out, loss: &loss };
        let (mut work, mut delta) = (net.workspace(BATCH * train.longest()), Vec::new());
        let gradient = |batch: &Examples, params: &[f32], grad: &mut [f32]| {
            let logits = net.forward(params, batch.rows(), batch.ends(), &mut work);
            delta.resize(logits.len(), 0.0);
            hazard_gradient(logits, batch.ends(), (batch.failed(), batch.places()), &mut delta);
            net.backward(params, &mut work, &delta, grad, None);
        };
        let adam = |done: usize| Adam { lr: ADAM.lr * (1.0 - done as f64 / steps as f64), ..ADAM };
        let plan = Plan { batch: BATCH, steps, adam: &adam };
        let (params, _) = ensemble::train(first, &train, &plan, Some(validation), gradient, rng);
        Hazards { net, params }
    }

    /// The chance to fail on the way past these places, for a policy that fails ten times more rarely. Those that are
    /// learned from fail so often that the worst ways are all but certain failures; which of them is worse shows in
    /// the hazard alone.
    pub(crate) fn predict(&self, places: &[f32], work: &mut SequenceWorkspace) -> f64 {
        -(-RARE * self.hazard(places, work)).exp_m1()
    }

    /// Mean cross-entropy of examples at the right height.
    pub(crate) fn loss(&self, examples: &Examples) -> f64 {
        let mut work = self.net.workspace(examples.longest());
        let hazard = |i| self.hazard(examples.rows_of(i), &mut work);
        let hazards: Vec<f64> = (0..examples.len()).map(hazard).collect();
        let share = examples.failures() as f64 / examples.len() as f64;
        examples.cross_entropy(&levelled(&hazards, share))
    }

    fn hazard(&self, places: &[f32], work: &mut SequenceWorkspace) -> f64 {
        let n = places.len() / self.net.channels();
        if n > work.max_places() {
            *work = self.net.workspace(n);
        }
        let hazard = |params: &Vec<f32>| {
            let logits = self.net.forward(params, places, &[n], work);
            logits.iter().map(|&z| f64::from(softplus(z))).sum::<f64>()
        };
        self.params.iter().map(hazard).sum::<f64>() / self.params.len() as f64
    }

    /// The chances of all examples.
    pub(crate) fn predict_all(&self, examples: &Examples) -> Vec<f64> {
        let mut work = self.net.workspace(examples.longest());
        (0..examples.len()).map(|i| self.predict(examples.rows_of(i), &mut work)).collect()
    }
}

/// Chances at hazards times the factor with which as many failures are predicted as there were. How often a policy fails
/// tells it from others; where it fails is what has to be predicted.
fn levelled(hazards: &[f64], share: f64) -> Vec<f64> {
    let chances = |height: f64| hazards.iter().map(move |h| -(-height.exp() * h).exp_m1());
    let (mut low, mut high) = (-20.0_f64, 20.0);
    for _ in 0..50 {
        let middle = 0.5 * (low + high);
        let mean = chances(middle).sum::<f64>() / hazards.len() as f64;
        *(if mean < share { &mut low } else { &mut high }) = middle;
    }
    chances(low).collect()
}

/// Mean −ln likelihood of what became of the sequences that end there, and its derivatives by all logits.
fn hazard_gradient(
    logits: &[f32],
    ends: &[usize],
    (failed, places): (&[f32], &[u32]),
    delta: &mut [f32],
) -> f64 {
    /// A hazard below which a failure counts as unpredicted, for its logarithm.
    const LEAST: f64 = 1e-6;
    let (mut loss, mut start) = (0.0, 0);
    for (&end, (&y, &place)) in ends.iter().zip(failed.iter().zip(places)) {
        let (logits, delta) = (&logits[start..end], &mut delta[start..end]);
        start = end;
        if place != NOWHERE {
            loss += failed_at(place as usize, logits, delta) / ends.len() as f64;
            delta.iter_mut().for_each(|d| *d /= ends.len() as f32);
            continue;
        }
        let hazard = logits.iter().map(|&z| f64::from(softplus(z))).sum::<f64>().max(LEAST);
        // Cross-entropy is H where nothing happened, and −ln(1 − exp(−H)) where something did.
        let (cost, slope) =
            if y > 0.5 { (-(-(-hazard).exp_m1()).ln(), -1.0 / hazard.exp_m1()) } else { (hazard, 1.0) };
        loss += cost / ends.len() as f64;
        let factor = (slope / ends.len() as f64) as f32;
        delta.iter_mut().zip(logits).for_each(|(d, &z)| *d = factor * sigmoid(z));
    }
    loss
}

/// −ln likelihood of a failure at a place, and its derivatives.
fn failed_at(place: usize, logits: &[f32], delta: &mut [f32]) -> f64 {
    let passed = &logits[..place];
    delta.fill(0.0);
    delta.iter_mut().zip(passed).for_each(|(d, &z)| *d = sigmoid(z));
    delta[place] = -sigmoid(-logits[place]);
    passed.iter().map(|&z| f64::from(softplus(z))).sum::<f64>() + f64::from(softplus(-logits[place]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::examples::Theta;

    #[test]
    fn the_gradient_of_the_hazard_passes_a_check() {
        let mut logits = vec![0.0; 12];
        Rng::new(1).fill_normal(&mut logits);
        logits.iter_mut().for_each(|z| *z -= 2.0);
        let (ends, became) = ([3, 4, 9, 12], ([1.0, 0.0, 1.0, 1.0], [NOWHERE, NOWHERE, 2, NOWHERE]));
        let became = (&became.0[..], &became.1[..]);
        let mut delta = vec![f32::NAN; 12];
        hazard_gradient(&logits, &ends, became, &mut delta);
        assert_eq!(delta[7..9], [0.0, 0.0], "what was never tried says nothing");
        let mut unused = delta.clone();
        let step = 1e-2;
        for i in 0..logits.len() {
            let mut at = |shift: f32| {
                let mut moved = logits.clone();
                moved[i] += shift;
                hazard_gradient(&moved, &ends, became, &mut unused)
            };
            let slope = (at(step) - at(-step)) / (2.0 * f64::from(step));
            assert!((f64::from(delta[i]) - slope).abs() < 2e-4, "{i}: expected {slope}, found {}", delta[i]);
        }
    }

    /// Ways of different lengths, on which only a sharp place that follows a blunt one is dangerous.
    fn ways(n: usize, seed: u64) -> Examples {
        let (mut rng, mut all) = (Rng::new(seed), Examples::new(1));
        for i in 0..n {
            let places: Vec<f64> = (0..20 + rng.below(20)).map(|_| rng.normal()).collect();
            let is_trap = |w: &[f64]| w[0] < -0.8 && w[1] > 0.8;
            let traps = places.windows(2).filter(|w| is_trap(w)).count();
            let fails = (0..traps).any(|_| rng.uniform() < 0.3);
            all.push(&places, Theta { iteration: i as f64 / n as f64, noise: 0.0 }, fails);
        }
        all
    }

    #[test]
    fn it_learns_what_is_dangerous_wherever_it_lies() {
        let (train, later) = (ways(6000, 1), ways(500, 2));
        let found = Hazards::fit(16, 1, &train, 2000, &mut Rng::new(3));
        let share = later.failures() as f64 / later.len() as f64;
        let (without, with) = (later.cross_entropy(&vec![share; later.len()]), found.loss(&later));
        assert!(with < 0.95 * without, "{with} {without}");
        // The same two places the other way round are no danger.
        let mut work = found.net.workspace(6);
        let mut at = |a: f32, b: f32| {
            let rows: Vec<f32> = [0.0, 0.0, a, b, 0.0, 0.0].iter().flat_map(|&v| [v, 0.5, 0.0]).collect();
            found.predict(&rows, &mut work)
        };
        let (trap, mirrored) = (at(-1.5, 1.5), at(1.5, -1.5));
        assert!(trap > 2.0 * mirrored, "{trap} {mirrored}");
    }

    #[test]
    fn hazards_of_stretches_add_up() {
        let net = Hazards::shape(3, 2);
        let mut params = vec![0.0; net.n_params()];
        params[net.biases(3)].fill(-4.0);
        let found = Hazards { net, params: vec![params] };
        let mut work = found.net.workspace(1);
        let mut safe = |n: usize| 1.0 - found.predict(&vec![0.3; 3 * n], &mut work);
        assert!((safe(30) - safe(10).powi(3)).abs() < 1e-9);
    }

    #[test]
    fn the_height_is_that_of_the_failures_and_the_order_stays() {
        let found = levelled(&[1.0, 2.0, 30.0], 0.4);
        assert!((found.iter().sum::<f64>() / 3.0 - 0.4).abs() < 1e-9, "{found:?}");
        assert!(found.is_sorted() && (found[1] / found[0] - 2.0).abs() < 0.1, "{found:?}");
    }
}
