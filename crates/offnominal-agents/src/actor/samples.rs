//! The single predictions of a policy that disagrees with itself: what uncertainty is measured on.

use super::{Actor, ActorError, largest};
use offnominal_core::Rng;
use offnominal_core::insight::{Insight, Predictions, Shape};
use offnominal_nets::tanh;

/// Makes M predictions for an observation, by M passes with dropout or dropconnect or by the M members of an ensemble.
#[derive(Debug, Clone)]
pub struct Predictor {
    actor: Actor,
    count: usize,
    heads: Vec<f32>,
    commands: Vec<f32>,
    features: Vec<f32>,
}

impl Actor {
    /// Prepares to make `count` predictions at a time; as many as the policy acts on if not given.
    ///
    /// # Errors
    /// If the policy is plain, the number is below two, or an ensemble has another number of members.
    pub fn predictor(&self, count: Option<usize>) -> Result<Predictor, ActorError> {
        if self.n_predictions() < 2 {
            return Err(self.plain());
        }
        let (count, members) = (count.unwrap_or(self.n_predictions()), self.members.len());
        let refuse = |expected: String| Err(ActorError::Predictions { expected, found: count });
        match members {
            1 if count < 2 => return refuse("at least 2".into()),
            n if n > 1 && count != n => return refuse(format!("one for each of the {n} members")),
            _ => {}
        }
        Ok(Predictor::new(self.clone(), count))
    }
}

impl Predictor {
    pub(super) fn new(actor: Actor, count: usize) -> Predictor {
        let (sizes, zeros) = (actor.net.head().sizes(), |width: usize| vec![0.0; count * width]);
        let hidden = if sizes.len() > 2 { sizes[sizes.len() - 2] } else { 0 };
        Predictor {
            heads: zeros(actor.net.outputs()),
            commands: zeros(actor.bounds.width()),
            features: zeros(hidden),
            count,
            actor,
        }
    }

    /// M, the number of predictions.
    pub fn count(&self) -> usize {
        self.count
    }

    /// The policy.
    pub fn actor(&self) -> &Actor {
        &self.actor
    }

    /// Makes the predictions for an observation; allocates nothing.
    ///
    /// # Panics
    /// If the observation does not have the policy's width.
    pub fn predict(&mut self, obs: &[f32], rng: &mut Rng) -> Predictions<'_> {
        for i in 0..self.count {
            self.actor.pass(i, obs, rng);
            let (head, features) = (self.actor.work.output(), self.actor.work.features());
            self.heads[i * head.len()..][..head.len()].copy_from_slice(head);
            self.features[i * features.len()..][..features.len()].copy_from_slice(features);
            self.command(i);
        }
        Predictions { heads: &self.heads, commands: &self.commands, features: &self.features }
    }

    /// The command of the i-th prediction alone.
    fn command(&mut self, i: usize) {
        let (width, bounds) = (self.actor.bounds.width(), &self.actor.bounds);
        let (command, head) = (&mut self.commands[i * width..][..width], self.actor.work.output());
        if bounds.is_choice() {
            command[0] = largest(head) as f32;
        } else {
            command.iter_mut().zip(head).for_each(|(a, &z)| *a = tanh(z));
            bounds.apply(command);
        }
    }
}

impl Insight for Predictor {
    fn shape(&self) -> Shape {
        let actor = &self.actor;
        Shape {
            obs: actor.net.inputs(),
            predictions: self.count,
            members: actor.members.len(),
            heads: actor.net.outputs(),
            commands: actor.bounds.width(),
            features: self.features.len() / self.count,
            is_choice: actor.bounds.is_choice(),
        }
    }

    fn look(&mut self, obs: &[f32], rng: &mut Rng) -> Predictions<'_> {
        self.predict(obs, rng)
    }

    fn fork(&self) -> Box<dyn Insight> {
        Box::new(self.clone())
    }
}
