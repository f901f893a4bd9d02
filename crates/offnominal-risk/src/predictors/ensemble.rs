//! Networks that learn side by side from different batches, until their predictions of held-out examples are best.

use crate::examples::Examples;
use offnominal_core::Rng;
use offnominal_nets::{Adam, AdamState};

/// When to stop: the parameters with the lowest loss on held-out examples are the result.
pub(crate) struct Validation<'v> {
    /// Gradient steps between validations.
    pub every: usize,
    /// The held-out examples.
    pub at: &'v Examples,
    /// The loss of networks with these parameters.
    pub loss: &'v dyn Fn(&[Vec<f32>], &Examples) -> f64,
}

/// How members learn.
pub(crate) struct Plan<'p> {
    /// Examples per gradient step.
    pub batch: usize,
    /// Gradient steps.
    pub steps: usize,
    /// The optimiser after so many steps.
    pub adam: &'p dyn Fn(usize) -> Adam,
}

/// Lets each member, given by its first parameters, make so many steps; `gradient` writes the derivatives of the loss
/// on a batch. Returns the parameters of all, and after how many steps: those of the best validation or, if there is
/// none, the last ones.
pub(crate) fn train(
    mut members: Vec<Vec<f32>>,
    train: &Examples,
    plan: &Plan<'_>,
    validation: Option<Validation<'_>>,
    mut gradient: impl FnMut(&Examples, &[f32], &mut [f32]),
    rng: &mut Rng,
) -> (Vec<Vec<f32>>, usize) {
    let mut optimisers: Vec<AdamState> = members.iter().map(|params| AdamState::new(params.len())).collect();
    let mut grad = vec![0.0; members.first().map_or(0, Vec::len)];
    let (mut which, mut batch) = (vec![0; plan.batch], train.batch());
    let mut best: Option<(f64, usize, Vec<Vec<f32>>)> = None;
    for step in 1..=plan.steps {
        for (params, state) in members.iter_mut().zip(&mut optimisers) {
            train.sample(&mut which, rng);
            train.gather(&which, &mut batch);
            gradient(&batch, params, &mut grad);
            (plan.adam)(step - 1).step(params, &grad, state);
        }
        let Some(validation) = &validation else { continue };
        if step % validation.every == 0 || step == plan.steps {
            let loss = (validation.loss)(&members, validation.at);
            if best.as_ref().is_none_or(|b| loss < b.0) {
                best = Some((loss, step, members.clone()));
            }
        }
    }
    best.map_or((members, plan.steps), |(_, step, params)| (params, step))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::examples::Theta;

    #[test]
    fn the_best_validation_counts_and_without_one_the_end() {
        let (mut one, mut rng) = (Examples::new(1), Rng::new(1));
        one.push(&[0.0], Theta { iteration: 0.0, noise: 0.0 }, false);
        let members = || vec![vec![0.0], vec![10.0]];
        let loss = |params: &[Vec<f32>], _: &Examples| f64::from((params[0][0] - 7.0).abs());
        // A gradient that never changes moves a parameter by the learning rate at each step.
        let adam = |_| Adam { lr: 1.0, ..Adam::default() };
        let mut run = |steps: usize, validated: bool| {
            let plan = Plan { batch: 1, steps, adam: &adam };
            let validation = validated.then_some(Validation { every: 3, at: &one, loss: &loss });
            let down = |_: &Examples, _: &[f32], grad: &mut [f32]| grad.fill(-1.0);
            let (params, step) = train(members(), &one, &plan, validation, down, &mut rng);
            (params.concat().into_iter().map(f32::round).collect::<Vec<_>>(), step)
        };
        assert_eq!(run(20, true), (vec![6.0, 16.0], 6));
        // The last step is validated too.
        assert_eq!(run(2, true), (vec![2.0, 12.0], 2));
        assert_eq!(run(4, false), (vec![4.0, 14.0], 4));
    }
}
