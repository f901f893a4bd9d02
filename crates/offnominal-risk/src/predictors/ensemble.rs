//! Networks that learn side by side from other batches, until they foresee later examples best.

use crate::examples::Examples;
use offnominal_core::Rng;

/// One network in training.
pub(crate) trait Member {
    /// One gradient step.
    fn step(&mut self, train: &Examples, rng: &mut Rng);

    /// Its parameters now.
    fn params(&self) -> &[f32];
}

/// Looks at later examples, which tell when to stop.
pub(crate) struct Look<'l> {
    /// Gradient steps between looks.
    pub every: usize,
    /// The later examples.
    pub at: &'l Examples,
    /// How badly networks with these parameters foresee them.
    pub loss: &'l dyn Fn(&[Vec<f32>], &Examples) -> f64,
}

/// Lets each member make so many steps. Returns the parameters of all, and after how many steps: as they were at the best
/// look or, if nobody looks, at the end.
pub(crate) fn train<M: Member>(
    mut members: Vec<M>,
    train: &Examples,
    look: Option<Look<'_>>,
    steps: usize,
    rng: &mut Rng,
) -> (Vec<Vec<f32>>, usize) {
    let params = |members: &[M]| members.iter().map(|m| m.params().to_vec()).collect::<Vec<_>>();
    let mut best: Option<(f64, usize, Vec<Vec<f32>>)> = None;
    for step in 1..=steps {
        members.iter_mut().for_each(|member| member.step(train, rng));
        let Some(look) = &look else { continue };
        if step % look.every == 0 || step == steps {
            let now = params(&members);
            let loss = (look.loss)(&now, look.at);
            if best.as_ref().is_none_or(|b| loss < b.0) {
                best = Some((loss, step, now));
            }
        }
    }
    best.map_or_else(|| (params(&members), steps), |(_, step, params)| (params, step))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counts its steps.
    struct Counter(Vec<f32>);

    impl Member for Counter {
        fn step(&mut self, _: &Examples, _: &mut Rng) {
            self.0[0] += 1.0;
        }

        fn params(&self) -> &[f32] {
            &self.0
        }
    }

    #[test]
    fn the_best_look_counts_and_without_looks_the_end() {
        let (none, mut rng) = (Examples::new(1), Rng::new(1));
        let members = || vec![Counter(vec![0.0]), Counter(vec![10.0])];
        let loss = |params: &[Vec<f32>], _: &Examples| f64::from((params[0][0] - 7.0).abs());
        let look = || Look { every: 3, at: &none, loss: &loss };
        assert_eq!(train(members(), &none, Some(look()), 20, &mut rng), (vec![vec![6.0], vec![16.0]], 6));
        // The last step is looked at too.
        assert_eq!(train(members(), &none, Some(look()), 2, &mut rng), (vec![vec![2.0], vec![12.0]], 2));
        assert_eq!(train(members(), &none, None, 4, &mut rng), (vec![vec![4.0], vec![14.0]], 4));
    }
}
