//! A model's zip: which algorithm, which spaces, which layers.

use super::dense::rectified;
use super::layers::layers;
use super::normalize::Statistics;
use super::settings::{Algorithm, Settings};
use super::space::Space;
use crate::actor::Actor;
use crate::chain::Chain;
use crate::network::{Design, Encoding, Input, Network, Normalised, Output};
use crate::normaliser::CLIP;
use crate::pytorch::FileError;
use crate::pytorch::tensors::{Archive, Tensors};
use crate::taken::Taken;
use offnominal_core::spec::{Channel, EnvSpec};
use serde_json::Value;

/// A policy as Stable-Baselines3 saved it.
pub struct Model {
    /// The algorithm, such as `ppo`.
    pub algorithm: String,
    /// What it observes, several frames together if they were stacked.
    pub observation: Space,
    /// What it does.
    pub actions: Space,
    chain: Chain,
    output: Output,
    /// Whether observations are grey levels that are divided by 255.
    is_grey: bool,
}

/// What stood around the environment in which a model was trained.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// What `VecNormalize` did.
    pub statistics: Option<Statistics>,
    /// Frames that `VecFrameStack` stacked; 1 without it.
    pub stack: usize,
}

impl Default for Options {
    fn default() -> Options {
        Options { statistics: None, stack: 1 }
    }
}

impl Model {
    /// Reads the zip of a model.
    ///
    /// # Errors
    /// If it is damaged, names what no policy needs, or is none of the policies that can be taken over.
    pub fn read(bytes: &[u8]) -> Result<Model, FileError> {
        let mut zip = Archive::open(bytes, "model")?;
        let data: Value = serde_json::from_slice(&zip.description("data")?)
            .map_err(|e| FileError::unsupported("model, part data", "JSON", e))?;
        let weights = zip.part("policy.pth")?;
        let mut tensors = Tensors::open(&weights, "model, part policy.pth")?;
        let (algorithm, settings) = (Algorithm::read(&data)?, Settings(&data));
        settings.check_extractor()?;
        let (observation, actions) =
            (Space::read(&data, "observation_space")?, Space::read(&data, "action_space")?);
        let chain = layers(&mut tensors, algorithm, &settings, &observation, &actions)?;
        let is_grey = matches!(observation, Space::Box { is_image: true, .. });
        Ok(Model {
            algorithm: algorithm.name().into(),
            output: output(algorithm, &settings, &actions, &chain),
            is_grey: is_grey && settings.is_on("normalize_images", true),
            observation,
            actions,
            chain,
        })
    }

    /// The policy in an environment.
    ///
    /// # Errors
    /// If the environment has other widths or bounds, or the statistics have.
    pub fn policy(self, spec: &EnvSpec, options: &Options) -> Result<Taken, FileError> {
        self.actions.expect_actions(spec)?;
        self.observation.expect_observation(spec, options.stack)?;
        let input = self.input(spec, options)?;
        if let Some((net, params)) = rectified(&self.chain).filter(|_| self.is_own(options)) {
            self.expect_widths(spec)?;
            let map = options.statistics.as_ref().map(|found| found.map.clone());
            return Ok(Taken::Actor(Box::new(Actor::new(spec, &self.algorithm, net, params, map))));
        }
        let Chain { layers, params } = self.chain;
        let design = Design { input, layers, output: self.output };
        let map = options.statistics.as_ref().map(|found| found.map.clone());
        Ok(Taken::Network(Box::new(Network::new(spec, &self.algorithm, design, params, map)?)))
    }

    /// Whether it is what policies that are trained here are too, apart from the layers.
    fn is_own(&self, options: &Options) -> bool {
        let is_one = matches!(&self.output, Output::Choices(sizes) if sizes.len() == 1);
        let clip = options.statistics.as_ref().map_or(CLIP, |found| found.clip);
        let is_plain = matches!(self.observation, Space::Box { is_image: false, .. });
        (is_one || self.output == Output::Squashed) && is_plain && options.stack == 1 && clip == CLIP
    }

    /// Whether the layers have the widths of the spaces.
    fn expect_widths(&self, spec: &EnvSpec) -> Result<(), FileError> {
        let ends = [self.chain.layers.first(), self.chain.layers.last()];
        let [inputs, outputs] = [
            ends[0].and_then(|layer| layer.kind.inputs()).unwrap_or(0),
            ends[1].and_then(|layer| layer.kind.outputs()).unwrap_or(0),
        ];
        let wanted = match &self.output {
            Output::Choices(sizes) => sizes.iter().map(|&n| n as usize).sum(),
            _ => spec.act_width(),
        };
        if inputs != spec.obs_width() {
            return Err(FileError::unsupported("inputs of the network", spec.obs_width(), inputs));
        }
        if outputs != wanted {
            return Err(FileError::unsupported("outputs of the network", wanted, outputs));
        }
        Ok(())
    }

    /// What an observation goes through.
    fn input(&self, spec: &EnvSpec, options: &Options) -> Result<Input, FileError> {
        let encoding = match &self.observation {
            Space::Discrete(n) => Encoding::OneHot(vec![*n]),
            Space::MultiDiscrete(sizes) => Encoding::OneHot(sizes.clone()),
            _ if self.is_grey => Encoding::Grey,
            _ => Encoding::Numbers,
        };
        let (width, stacked) = (spec.obs_width(), spec.obs_width() * options.stack);
        let normalised = match options.statistics.as_ref().map(|found| found.map.mean.len()) {
            None => Normalised::No,
            Some(n) if n == stacked => Normalised::Stack,
            Some(n) if n == width => Normalised::Frames,
            Some(n) => {
                let what = format!("statistics for the {stacked} observation channels of {}", spec.id);
                return Err(FileError::unsupported(&what, stacked, n));
            }
        };
        let clip = options.statistics.as_ref().map(|found| found.clip);
        Ok(Input { width, stack: options.stack, normalised, clip, encoding })
    }

    /// An environment that is nothing but the channels that this model reads and writes.
    pub fn spec(&self, id: &str) -> EnvSpec {
        EnvSpec {
            observation: match &self.observation {
                Space::Box { low, is_image: false, .. } => {
                    (0..low.len()).map(|i| Channel::unbounded(&format!("o{i}"), "imported", "1")).collect()
                }
                other => other.channels("o"),
            },
            action: match &self.actions {
                Space::Discrete(n) => vec![Channel::choice("choice", "imported", *n)],
                other => other.channels("a"),
            },
            ..EnvSpec::new(id, "the channels of an imported policy")
        }
    }
}

/// How the last outputs become an action.
fn output(algorithm: Algorithm, settings: &Settings<'_>, actions: &Space, chain: &Chain) -> Output {
    let is_single = chain.layers.len() == 1;
    match actions {
        Space::Discrete(n) => Output::Choices(vec![*n]),
        Space::MultiDiscrete(sizes) => Output::Choices(sizes.clone()),
        Space::MultiBinary(_) => Output::Signs,
        Space::Box { .. } => {
            let is_squashed = match algorithm {
                Algorithm::Ars => settings.is_on("squash_output", !is_single),
                _ if algorithm.is_actor_critic() => settings.is_on("squash_output", false),
                _ => true,
            };
            if is_squashed { Output::Squashed } else { Output::Bounded }
        }
    }
}
