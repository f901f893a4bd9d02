//! A trained policy: networks, normalisation, bounds.
//!
//! A real action is low + (high − low)·(tanh(f(x̂)) + 1)/2, where x̂ is the normalised observation; with a linear output
//! f(x̂) stands in place of tanh(f(x̂)), and the action is cut at low and high. A choice is the one of the largest f(x̂).
//! Hidden layers are rectified. A policy may make several predictions: one with dropout or dropconnect passes the
//! observation several times, an ensemble through each of its members, and the policy acts on the mean of these
//! predictions (of tanh(f(x̂)), or of the values). [`Policy::samples`] gives them one by one.

mod bounds;
mod error;
mod file;
mod samples;

use crate::config::OutputActivation;
use crate::normaliser::Normalisation;
pub(crate) use bounds::{Bounds, choices, choose, largest, outputs};
pub use error::ActorError;
use offnominal_core::Rng;
use offnominal_core::limits::DRAWS;
use offnominal_core::policy::Policy;
use offnominal_core::samples::{PolicySamples, SamplesError};
use offnominal_core::spec::EnvSpec;
use offnominal_nets::{Net, NetWorkspace};
use samples::ActorSamples;

/// Passes over which a policy with dropout or dropconnect is averaged, unless it is told otherwise.
pub const PASSES: usize = 5;

/// A policy; deterministic unless its network drops units or weights.
#[derive(Debug, Clone)]
pub struct Actor {
    env: String,
    algorithm: String,
    net: Net,
    members: Vec<Member>,
    passes: usize,
    activation: OutputActivation,
    bounds: Bounds,
    work: NetWorkspace,
    obs: Vec<f32>,
    /// Mean prediction.
    mean: Vec<f32>,
}

/// The numbers of one network.
#[derive(Debug, Clone)]
struct Member {
    params: Vec<f32>,
    normalisation: Option<Normalisation>,
}

impl Actor {
    /// A policy of one network for the given environment.
    ///
    /// # Panics
    /// If the network does not have the environment's widths.
    pub fn new(
        spec: &EnvSpec,
        algorithm: &str,
        net: impl Into<Net>,
        params: Vec<f32>,
        normalisation: Option<Normalisation>,
    ) -> Actor {
        Actor::of_members(spec, algorithm, net.into(), vec![Member { params, normalisation }])
    }

    fn of_members(spec: &EnvSpec, algorithm: &str, net: Net, members: Vec<Member>) -> Actor {
        assert_eq!((net.inputs(), net.outputs()), (spec.obs_width(), outputs(&spec.action)), "widths");
        Actor {
            env: spec.id.clone(),
            algorithm: algorithm.to_string(),
            members,
            passes: PASSES,
            activation: OutputActivation::Tanh,
            bounds: Bounds::of(&spec.action),
            work: net.workspace(1),
            obs: vec![0.0; net.inputs()],
            mean: vec![0.0; net.outputs()],
            net,
        }
    }

    /// The same policy, with another activation of its outputs.
    pub(crate) fn with_activation(self, activation: OutputActivation) -> Actor {
        Actor { activation, ..self }
    }

    /// One policy of several that were trained apart; they must be plain, of one environment, algorithm and shape.
    ///
    /// # Errors
    /// If there are fewer than two, or one does not fit the first.
    pub fn ensemble(policies: Vec<Actor>) -> Result<Actor, ActorError> {
        let found = policies.len();
        let mut policies = policies.into_iter();
        let (Some(mut first), true) = (policies.next(), found > 1) else {
            return Err(ActorError::unfit("ensemble", "at least two members", found));
        };
        first.is_single(0)?;
        for (i, other) in policies.enumerate() {
            other.is_single(i + 1)?;
            first.is_like(&other, i + 1)?;
            first.members.extend(other.members);
        }
        Ok(first)
    }

    /// Only plain networks become members.
    fn is_single(&self, member: usize) -> Result<(), ActorError> {
        let found = match self.members.len() {
            1 if self.net.is_stochastic() => "one that drops units or weights".to_string(),
            1 => return Ok(()),
            n => format!("an ensemble of {n}"),
        };
        Err(ActorError::unfit(format!("member {member} of the ensemble"), "a plain network", found))
    }

    fn is_like(&self, other: &Actor, member: usize) -> Result<(), ActorError> {
        let words = |a: &Actor| {
            let centred = if a.members[0].normalisation.is_some() { " on centred images" } else { "" };
            let filters = a.net.encoder().map(|net| format!(", filters {:?}{centred}", file::filters(net)));
            let linear = if a.activation == OutputActivation::Linear { ", linear output" } else { "" };
            let (sizes, filters) = (a.net.head().sizes(), filters.unwrap_or_default());
            format!("{} in {} with widths {sizes:?}{filters}{linear}", a.algorithm, a.env)
        };
        let same = words(self) == words(other) && self.bounds == other.bounds;
        let what = || format!("member {member} of the ensemble");
        let error = || ActorError::unfit(what(), words(self), words(other));
        same.then_some(()).ok_or_else(error)
    }

    /// The same policy, averaged over another number of passes.
    ///
    /// # Errors
    /// If its network drops nothing, so that all passes are the same, or there are fewer than two.
    pub fn with_passes(self, passes: usize) -> Result<Actor, ActorError> {
        if !self.net.is_stochastic() {
            return Err(self.plain());
        }
        if passes < 2 {
            return Err(ActorError::unfit("predictions", "at least 2 passes", passes));
        }
        if passes > DRAWS {
            return Err(ActorError::unfit("predictions", format!("at most {DRAWS} passes"), passes));
        }
        Ok(Actor { passes, ..self })
    }

    fn plain(&self) -> ActorError {
        let expected = "one with dropout, dropconnect or several members";
        let found = format!("a plain network of {}, whose predictions are all the same", self.algorithm);
        ActorError::unfit(format!("policy of {}", self.env), expected, found)
    }

    /// The environment that it was trained in.
    pub fn env(&self) -> &str {
        &self.env
    }

    /// The algorithm that trained it.
    pub fn algorithm(&self) -> &str {
        &self.algorithm
    }

    /// The shape of the networks, with what they drop.
    pub fn net(&self) -> &Net {
        &self.net
    }

    /// Number of members; 1 if it is no ensemble.
    pub fn n_members(&self) -> usize {
        self.members.len()
    }

    /// Number of predictions over which it is averaged: members, or else passes; 1 if it is plain.
    pub fn n_predictions(&self) -> usize {
        match self.members.len() {
            1 if self.net.is_stochastic() => self.passes,
            n => n,
        }
    }

    /// Makes the i-th prediction for an observation, the first one first; the result is in the workspace.
    fn pass(&mut self, i: usize, obs: &[f32], rng: &mut Rng) {
        let member = &self.members[i % self.members.len()];
        if i > 0 && self.members.len() == 1 {
            self.net.again(&member.params, &self.obs, &mut self.work, rng);
            return;
        }
        self.obs.copy_from_slice(obs);
        if let Some(map) = &member.normalisation {
            map.apply(&mut self.obs);
        }
        self.net.forward_train(&member.params, &self.obs, &mut self.work, rng);
    }

    /// The mean prediction for an observation: of values, or of actions in [−1, 1].
    fn average(&mut self, obs: &[f32], rng: &mut Rng) {
        let (n, choice) = (self.n_predictions(), self.bounds.is_choice());
        self.mean.fill(0.0);
        for i in 0..n {
            self.pass(i, obs, rng);
            for (sum, &head) in self.mean.iter_mut().zip(self.work.output()) {
                *sum += if choice { head } else { self.activation.of(head) };
            }
        }
        self.mean.iter_mut().for_each(|v| *v /= n as f32);
    }
}

impl Policy for Actor {
    fn act(&mut self, obs: &[f32], action: &mut [f32], rng: &mut Rng) {
        self.average(obs, rng);
        if self.bounds.is_choice() {
            action[0] = choose(&self.mean);
        } else {
            action.copy_from_slice(&self.mean);
            self.bounds.apply(action);
        }
    }

    fn fork(&self) -> Box<dyn Policy> {
        Box::new(self.clone())
    }

    /// As many predictions as the policy acts on if not given; a plain policy makes a single one, and an ensemble one for
    /// each of its members.
    fn samples(&self, predictions: Option<usize>) -> Result<Box<dyn PolicySamples>, SamplesError> {
        let count = predictions.unwrap_or(self.n_predictions());
        let refused = |expected: String| ActorError::unfit("predictions", expected, count);
        let why = match self.members.len() {
            _ if predictions.is_some() && self.n_predictions() < 2 => Some(self.plain()),
            _ if count > DRAWS => Some(refused(format!("at most {DRAWS}"))),
            1 if predictions.is_some() && count < 2 => Some(refused("at least 2".into())),
            n if n > 1 && count != n => Some(refused(format!("one for each of the {n} members"))),
            _ => None,
        };
        match why {
            Some(why) => Err(SamplesError::Refused(why.to_string())),
            None => Ok(Box::new(ActorSamples::new(self.clone(), count))),
        }
    }
}
