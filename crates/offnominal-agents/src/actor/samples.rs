//! The single predictions of a policy, from which its uncertainty is measured.

use super::{Actor, largest};
use offnominal_core::Rng;
use offnominal_core::samples::{PolicySamples, Predictions, Shape};

/// Makes M predictions for an observation, by M passes with dropout or dropconnect or by the M members of an ensemble.
#[derive(Debug, Clone)]
pub(super) struct ActorSamples {
    actor: Actor,
    count: usize,
    heads: Vec<f32>,
    actions: Vec<f32>,
    features: Vec<f32>,
}

impl ActorSamples {
    pub(super) fn new(actor: Actor, count: usize) -> ActorSamples {
        let (sizes, zeros) = (actor.net.head().sizes(), |width: usize| vec![0.0; count * width]);
        let hidden = if sizes.len() > 2 { sizes[sizes.len() - 2] } else { 0 };
        ActorSamples {
            heads: zeros(actor.net.outputs()),
            actions: zeros(actor.bounds.width()),
            features: zeros(hidden),
            count,
            actor,
        }
    }

    /// The action of the i-th prediction alone.
    fn action(&mut self, i: usize) {
        let (width, bounds, activation) =
            (self.actor.bounds.width(), &self.actor.bounds, self.actor.activation);
        let (action, head) = (&mut self.actions[i * width..][..width], self.actor.work.output());
        if bounds.is_choice() {
            action[0] = largest(head) as f32;
        } else {
            action.iter_mut().zip(head).for_each(|(a, &z)| *a = activation.of(z));
            bounds.apply(action);
        }
    }
}

impl PolicySamples for ActorSamples {
    fn shape(&self) -> Shape {
        let actor = &self.actor;
        Shape {
            obs: actor.net.inputs(),
            predictions: self.count,
            members: actor.members.len(),
            heads: actor.net.outputs(),
            actions: actor.bounds.width(),
            features: self.features.len() / self.count,
            is_choice: actor.bounds.is_choice(),
        }
    }

    fn predict(&mut self, obs: &[f32], rng: &mut Rng) -> Predictions<'_> {
        for i in 0..self.count {
            self.actor.pass(i, obs, rng);
            let (head, features) = (self.actor.work.output(), self.actor.work.features());
            self.heads[i * head.len()..][..head.len()].copy_from_slice(head);
            self.features[i * features.len()..][..features.len()].copy_from_slice(features);
            self.action(i);
        }
        Predictions { heads: &self.heads, actions: &self.actions, features: &self.features }
    }

    fn fork(&self) -> Box<dyn PolicySamples> {
        Box::new(self.clone())
    }
}
