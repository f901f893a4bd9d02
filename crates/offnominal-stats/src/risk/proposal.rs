//! Draws from P that a predictor accepts or rejects.
//!
//! X ~ P is accepted with the chance f(X)^α, and drawn again until one is: the accepted X has the density
//! p(x) f(x)^α / Z, where Z = E\[f^α\] is a mean over draws alone and costs no experiments. A share ε of the experiments
//! takes the first draw as it is, so that no weight exceeds 1 / ε.
//!
//! α = ½ is best where f is right (proposition 3.2); more if it overestimates, less if it underestimates.
//!
//! Reference: Uesato et al. (2018), section 3.2, proposition 3.3 and algorithm 1; the share is the defensive mixture of
//! Hesterberg, Technometrics 37(2), 1995.

use super::bernstein::Bernstein;
use super::pool::{Pool, Stream};
use super::refusal::Refusal;
use crate::Level;
use offnominal_core::Rng;

/// How initial conditions are proposed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Proposal {
    /// Share ε of experiments that start from plain draws; zero is the paper's algorithm 1.
    pub plain_share: f64,
    /// The exponent α.
    pub exponent: f64,
}

impl Default for Proposal {
    fn default() -> Proposal {
        Proposal { plain_share: super::PLAIN_SHARE, exponent: 0.5 }
    }
}

impl Proposal {
    /// The chance f^α of a draw with prediction f to be accepted.
    pub fn chance(&self, predicted: f64) -> f64 {
        predicted.powf(self.exponent).clamp(0.0, 1.0)
    }

    /// The next initial condition, and its chance to be accepted. Draws until one is, so f must not be zero everywhere.
    pub fn next<X>(
        &self,
        mut draw: impl FnMut(&mut Rng) -> X,
        predict: impl Fn(&X) -> f64,
        rng: &mut Rng,
    ) -> (X, f64) {
        let is_plain = rng.uniform() < self.plain_share;
        loop {
            let x = draw(rng);
            let chance = self.chance(predict(&x));
            if is_plain || rng.uniform() < chance {
                return (x, chance);
            }
        }
    }

    /// The pool that judges such experiments, with Z from so many cheap draws. An interval of level 1 − α then spends
    /// α / 10 on Z.
    ///
    /// # Errors
    /// If there are no draws.
    pub fn pool<X>(
        &self,
        draws: usize,
        level: Level,
        mut draw: impl FnMut(&mut Rng) -> X,
        predict: impl Fn(&X) -> f64,
        rng: &mut Rng,
    ) -> Result<Pool, Refusal> {
        let mut mean = Bernstein::new(Level::try_from(1.0 - 0.1 * (1.0 - level.get()))?);
        for _ in 0..draws {
            mean.push(self.chance(predict(&draw(rng))));
        }
        let guided = Stream::guided(1.0 - self.plain_share, mean.estimate()?);
        Pool::new(vec![Stream::plain(self.plain_share), guided])
    }
}

#[cfg(test)]
mod tests {
    use super::super::budget;
    use super::super::toy::{Toy, assert_covers, repetitions};
    use super::*;
    use crate::risk::{Refusal, Warning};
    use offnominal_core::estimate::Estimate;

    /// Experiments of a toy, proposed by the shape of its failures to a power.
    fn run(toy: Toy, rule: Proposal, sharpness: f64, experiments: usize, rng: &mut Rng) -> Pool {
        let predict = |x: &f64| (-toy.decay * sharpness * x).exp();
        let mut pool = rule.pool(20_000, Level::P95, Rng::uniform, predict, rng).unwrap();
        for _ in 0..experiments {
            let (x, chance) = rule.next(Rng::uniform, predict, rng);
            pool.record(&[1.0, chance], toy.fails(x, rng));
        }
        pool
    }

    fn estimate(toy: Toy, rule: Proposal, sharpness: f64, n: usize, rng: &mut Rng) -> Estimate {
        run(toy, rule, sharpness, n, rng).estimate(Level::P95).unwrap()
    }

    #[test]
    fn the_interval_covers_and_accounts_for_the_normalising_constant() {
        let rule = Proposal::default();
        for (toy, sharpness) in [
            (Toy { height: 0.5, decay: 18.0 }, 1.0),
            (Toy { height: 0.5, decay: 18.0 }, 1.5),
            (Toy { height: 0.01, decay: 100.0 }, 1.0),
        ] {
            assert_covers(toy.p(), |rng| estimate(toy, rule, sharpness, 1000, rng));
        }
    }

    #[test]
    fn without_a_plain_share_there_is_no_valid_interval() {
        let rule = Proposal { plain_share: 0.0, ..Proposal::default() };
        let pool = run(Toy { height: 0.5, decay: 18.0 }, rule, 1.0, 500, &mut Rng::new(1));
        assert_eq!(pool.estimate(Level::P95), Err(Refusal::UnboundedWeights));
    }

    #[test]
    fn a_predictor_that_is_too_sharp_is_noticed() {
        let toy = Toy { height: 0.5, decay: 18.0 };
        let warns = |rule: Proposal, sharpness: f64, seed: u64| {
            let pool = run(toy, rule, sharpness, 2000, &mut Rng::new(seed));
            !pool.diagnostics().unwrap().warnings().is_empty()
        };
        let sharp = Proposal { plain_share: 0.0, exponent: 1.0 };
        assert!((0..20).all(|seed| warns(sharp, 1.5, seed)));
        let false_warnings = (0..20).filter(|&seed| warns(Proposal::default(), 1.0, seed)).count();
        assert!(false_warnings <= 1, "{false_warnings}");
        let pool = run(toy, sharp, 1.5, 2000, &mut Rng::new(1));
        assert!(matches!(
            pool.normal(Level::P95),
            Err(Refusal::Doubtful(Warning::MeanWeight { .. } | Warning::OneExperiment { .. }))
        ));
    }

    /// A predictor learned from policies that fail 100 times as often has the right shape at the wrong height: the height
    /// cancels. Far fewer episodes than counting are then enough for a 3-approximation in 95 % of all runs.
    #[test]
    fn weaker_policies_speed_up_the_estimate_twenty_times() {
        let (early, late) = (Toy { height: 1.0, decay: 200.0 }, Toy { height: 0.01, decay: 200.0 });
        let counting = budget(late.p(), 3.0, Level::P95).unwrap() as usize;
        let rule = Proposal::default();
        let predict = |x: &f64| early.chance(*x);
        let is_close = |seed: u64| {
            let rng = &mut Rng::new(seed);
            let mut pool = rule.pool(20_000, Level::P95, Rng::uniform, predict, rng).unwrap();
            for _ in 0..counting / 20 {
                let (x, chance) = rule.next(Rng::uniform, predict, rng);
                pool.record(&[1.0, chance], late.fails(x, rng));
            }
            let ratio = pool.value() / late.p();
            (1.0 / 3.0..=3.0).contains(&ratio)
        };
        let n = repetitions() / 2;
        let close = (0..n as u64).filter(|&seed| is_close(seed)).count();
        assert!(close as f64 >= 0.95 * n as f64, "{close} of {n}");
    }
}
