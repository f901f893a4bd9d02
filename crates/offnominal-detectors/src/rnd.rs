//! Random network distillation: error of a network that imitates a random one.
//!
//! score(o′) = 1/d Σ_j (g_j(x) − f_j(x))², with x = z(o′) held within ±5.
//!
//! | symbol | meaning                                                                                     |
//! |--------|---------------------------------------------------------------------------------------------|
//! | z      | standardised observation after the step, constant channels dropped                          |
//! | f      | a network of random weights that stay as they are                                           |
//! | g      | a network with one more hidden layer that learned to give the same d outputs on nominal data |
//!
//! The imitation is good where it was practised and nowhere else: as a policy's uncertainty, but without a policy.
//!
//! Assumes: nominal behaviour returns to the states it was trained on.
//! Blind to: dynamics that change while the states visited stay the same; what lies beyond five deviations, further out.
//! Cost: fit O(epochs · n · parameters), score O(parameters).
//! Reference: Burda et al., "Exploration by Random Network Distillation", ICLR 2019, sections 2.2 and 2.4.  Deviates: the
//! weights of f are uniform with He's deviation, not orthogonal.
//!
//! ```
//! use offnominal_core::detector::{Nominal, Signals};
//! use offnominal_core::transition::Transition;
//! use offnominal_core::Rng;
//! let observations: Vec<f32> = (0..200).map(|i| (i as f32 * 0.7).sin()).collect();
//! let nominal = Signals::new(&observations, &[0.0; 199], 1, 1);
//! let detector = offnominal_detectors::catalogue().build("rnd", &serde_json::json!({})).unwrap();
//! let mut monitor = detector.fit(Nominal::new(&[nominal], &[]), &mut Rng::new(0)).unwrap();
//! let mut at = |next: f32| monitor.score(&Transition { obs: &[0.0], action: &[0.0], next_obs: &[next] });
//! assert!(at(2.0) > 10.0 * at(0.5));
//! // Beyond five deviations all is equally far.
//! assert_eq!(at(90.0), at(900.0));
//! ```

use crate::shared::one_step::{Rows, mean_square};
use crate::shared::prelude::*;
use crate::shared::ranges::{Hidden, TooLarge, up_to};
use crate::shared::saved;
use crate::shared::scale::{Constant, Scale, n_observations};
use crate::shared::training::{Supervised, Training};
use offnominal_core::limits::STATE;
use offnominal_nets::loss::mse;
use offnominal_nets::{Activation, Init, Mlp, Workspace};

/// The largest standardised magnitude that the networks read.
const CLIP: f32 = 5.0;

recipe! {
    /// The recipe.
    pub struct Rnd {
        /// Widths of the hidden layers of the random network; the imitation has the last one twice.
        pub hidden: Hidden = Hidden::one(64),
        /// Number of outputs.
        #[serde(deserialize_with = "up_to::<_, _, STATE>")]
        pub outputs: NonZeroUsize = count(32),
        /// How the imitation is trained.
        pub training: Training = Training::brief(),
    }
}

/// The entry of [`Rnd`].
pub const ENTRY: Entry<dyn Detector> =
    entry!(Rnd as dyn Detector, "rnd", "error of a network that imitates a random one");

impl Detector for Rnd {
    fn fit(&self, nominal: Nominal<'_>, rng: &mut Rng) -> Result<Box<dyn Scorer>, FitError> {
        let (train, validation) = (nominal.train, self.training.validation(nominal)?);
        let scale = Scale::of_observations(train, Constant::Dropped).0;
        let sizes = self.sizes(scale.width())?;
        let mut random = Net::new(&sizes, Vec::new(), 1);
        let first = random.shape.first_params(Init::Uniform, rng);
        random.params = first.iter().map(|p| p * 6.0_f32.sqrt()).collect();
        let shape = Mlp::new(&deeper(&sizes), Activation::Relu);
        let mut params = shape.first_params(Init::Uniform, rng);
        let mut learner = Supervised::new(shape, self.training.batch, mse);
        let (rows, held_out) = (random.rows(&scale, train), random.rows(&scale, validation));
        let mut sample: Vec<u32> = (0..n_observations(train) as u32).collect();
        let data = (&rows, sample.as_mut_slice());
        self.training.run(&mut learner, &mut params, data, &held_out, rng, nominal.progress)?;
        let imitation = Net::new(&deeper(&sizes), params, 1);
        Ok(Box::new(Fitted { scale: Arc::new(scale), random, imitation, x: vec![0.0; sizes[0]] }))
    }

    fn load(&self, from: &Reader<'_>, _: Option<&dyn Policy>) -> Result<Box<dyn Scorer>, ArchiveError> {
        let scale = Scale::load(&from.part("obs"), from.obs_width)?;
        let sizes = saved::widths(from, self.sizes(scale.width()))?;
        let net = |part: &str, sizes: &[usize]| {
            let params = saved::params(&from.part(part), &Mlp::new(sizes, Activation::Relu))?;
            Ok::<_, ArchiveError>(Net::new(sizes, params, 1))
        };
        let (random, imitation) = (net("random", &sizes)?, net("imitation", &deeper(&sizes))?);
        Ok(Box::new(Fitted { scale: Arc::new(scale), random, imitation, x: vec![0.0; sizes[0]] }))
    }
}

impl Rnd {
    /// The widths of the random network; the imitation has about twice its weights.
    fn sizes(&self, n_inputs: usize) -> Result<Vec<usize>, TooLarge> {
        self.hidden.sizes(3, n_inputs.max(1), self.outputs.get())
    }
}

/// The widths of a network with the last hidden layer twice.
fn deeper(sizes: &[usize]) -> Vec<usize> {
    let (hidden, output) = sizes.split_at(sizes.len() - 1);
    [hidden, &hidden[hidden.len() - 1..], output].concat()
}

/// A network with its weights and buffers. Forks share the weights.
#[derive(Clone)]
struct Net {
    shape: Mlp,
    params: Arc<[f32]>,
    work: Workspace,
}

impl Net {
    fn new(sizes: &[usize], params: Vec<f32>, batch: usize) -> Net {
        let shape = Mlp::new(sizes, Activation::Relu);
        Net { work: shape.workspace(batch), params: params.into(), shape }
    }

    fn of(&mut self, x: &[f32]) -> &[f32] {
        self.shape.forward(&self.params, x, &mut self.work)
    }

    /// Each observation with the outputs for it.
    fn rows(&mut self, scale: &Scale, episodes: &[Signals<'_>]) -> Rows {
        let mut rows = Rows { inputs: Vec::new(), targets: Vec::new(), episodes: Vec::new() };
        let mut x = vec![0.0; self.shape.inputs()];
        for obs in episodes.iter().flat_map(|e| e.observations().chunks_exact(e.obs_width())) {
            scale.apply_clipped(obs, &mut x, CLIP);
            rows.inputs.extend_from_slice(&x);
            rows.targets.extend_from_slice(self.of(&x));
        }
        rows
    }
}

#[derive(Clone)]
struct Fitted {
    scale: Arc<Scale>,
    random: Net,
    imitation: Net,
    x: Vec<f32>,
}

impl Scorer for Fitted {
    fn score(&mut self, seen: &Transition<'_>) -> f64 {
        self.scale.apply_clipped(seen.next_obs, &mut self.x, CLIP);
        mean_square(self.imitation.of(&self.x), self.random.of(&self.x))
    }

    fn save(&self, to: &mut Writer<'_>) -> Result<(), ArchiveError> {
        self.scale.save(&mut to.part("obs"));
        to.part("random").put("params", &self.random.params);
        to.part("imitation").put("params", &self.imitation.params);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_imitation_is_deeper_and_reads_within_bounds() {
        assert_eq!(deeper(&[3, 64, 32]), [3, 64, 64, 32]);
        let obs = [1.0, -1.0];
        let scale = Scale::of_observations(&[Signals::new(&obs, &[0.0], 1, 1)], Constant::Dropped).0;
        let mut x = [0.0];
        for (value, want) in [(0.5, 0.5), (70.0, CLIP), (f32::NAN, -CLIP)] {
            scale.apply_clipped(&[value], &mut x, CLIP);
            assert_eq!(x, [want]);
        }
    }
}
