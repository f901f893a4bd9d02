//! How much is a predictor to be trusted: the exponent α from what it predicted of experiments already made.
//!
//! For each α in {¼, ½, ¾, 1, 1½, 2, 3, 4} the variance that importance sampling would have is predicted from plain
//! draws with their outcomes: with the density ratio r = ε + (1 − ε) f^α / Z, E\[C / r\] / p² − 1 per experiment.
//! Experiments of a weaker policy do as well as those of the one under test, as long as both fail at the same places:
//! a common factor cancels.
//!
//! A predictor that learned from much weaker policies is too timid: they fail at many places, the one under test only
//! at the worst. That is what exponents above 1 are for.
//!
//! A choice from the very experiments that the estimate uses would bias it; use earlier ones.
//!
//! Reference: the exponent is that of Uesato et al. (2018), section 3.2, who name no rule for it.

use super::refusal::Refusal;
use crate::mean::student_t;
use crate::{Level, StatsError};
use offnominal_core::estimate::Estimate;

/// The exponents to choose from.
pub const EXPONENTS: [f64; 8] = [0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 4.0];

/// What each exponent would cost.
#[derive(Debug, Clone, PartialEq)]
pub struct Choice {
    /// The exponent with the smallest predicted variance.
    pub exponent: f64,
    /// Variance of one experiment relative to p², plus one, for each of [`EXPONENTS`]; given the p that was seen.
    pub relative_squares: [Estimate; 8],
}

/// Chooses the exponent from draws of P: what was predicted for each, and whether it failed.
///
/// # Errors
/// If fewer than five failed, or the predictions are not in [0, 1] or all zero.
pub fn choose(outcomes: &[(f64, bool)], plain_share: f64, level: Level) -> Result<Choice, Refusal> {
    let failures = outcomes.iter().filter(|o| o.1).count();
    StatsError::require("exponent", super::warning::FEWEST_FAILURES, "failures", failures)?;
    StatsError::within(
        (0.0..1.0).contains(&plain_share),
        "plain share",
        "a number from 0 to 1",
        plain_share,
    )?;
    for &(predicted, _) in outcomes {
        StatsError::within((0.0..=1.0).contains(&predicted), "prediction", "a probability", predicted)?;
    }
    let mut found = Vec::with_capacity(EXPONENTS.len());
    for exponent in EXPONENTS {
        found.push(relative_square(outcomes, plain_share, exponent, level)?);
    }
    let relative_squares: [Estimate; 8] = found.try_into().expect("one per exponent");
    let costs = relative_squares.iter().map(|e| e.value).zip(EXPONENTS);
    let (_, exponent) = costs.min_by(|a, b| a.0.total_cmp(&b.0)).expect("several exponents");
    Ok(Choice { exponent, relative_squares })
}

/// E\[C / r\] / p², with p the share that failed.
fn relative_square(
    outcomes: &[(f64, bool)],
    plain_share: f64,
    exponent: f64,
    level: Level,
) -> Result<Estimate, Refusal> {
    let n = outcomes.len() as f64;
    let z = outcomes.iter().map(|o| o.0.powf(exponent)).sum::<f64>() / n;
    StatsError::within(z > 0.0, "mean of the predictions", "a positive number", z)?;
    let p = outcomes.iter().filter(|o| o.1).count() as f64 / n;
    let ratio = |f: f64| plain_share + (1.0 - plain_share) * f.powf(exponent) / z;
    let term = |&(f, failed): &(f64, bool)| if failed { 1.0 / (ratio(f) * p * p) } else { 0.0 };
    let terms: Vec<f64> = outcomes.iter().map(term).collect();
    Ok(student_t(&terms, level)?)
}

#[cfg(test)]
mod tests {
    use super::super::toy::Toy;
    use super::*;
    use offnominal_core::Rng;

    const TOY: Toy = Toy { height: 0.5, decay: 18.0 };

    /// Outcomes of plain draws, predicted by the true chance to a power.
    fn outcomes(sharpness: f64) -> Vec<(f64, bool)> {
        let mut rng = Rng::new(3);
        let mut one = || {
            let x = rng.uniform();
            (TOY.chance(x).powf(sharpness), TOY.fails(x, &mut rng))
        };
        (0..200_000).map(|_| one()).collect()
    }

    #[test]
    fn a_true_predictor_wants_the_square_root() {
        let found = choose(&outcomes(1.0), 0.1, Level::P95).unwrap();
        assert_eq!(found.exponent, 0.5);
        // Integrals in closed form: relative variances 10.3, 7.4 and 10.3 at ¼, ½ and 1.
        for (at, want) in [(0, 11.3), (1, 8.4), (3, 11.3)] {
            let found = &found.relative_squares[at];
            assert!((found.value - want).abs() < 0.5, "{want}: {found}");
        }
    }

    #[test]
    fn an_overconfident_predictor_wants_less_and_a_timid_one_more() {
        assert_eq!(choose(&outcomes(2.0), 0.1, Level::P95).unwrap().exponent, 0.25);
        assert_eq!(choose(&outcomes(0.5), 0.1, Level::P95).unwrap().exponent, 1.0);
        assert_eq!(choose(&outcomes(0.25), 0.1, Level::P95).unwrap().exponent, 2.0);
    }

    #[test]
    fn nothing_is_chosen_from_nothing() {
        let message = choose(&[(0.5, false); 10], 0.1, Level::P95).unwrap_err().to_string();
        assert_eq!(message, "exponent: expected at least 5 failures, found 0");
        assert!(choose(&[(1.5, true); 10], 0.1, Level::P95).unwrap_err().to_string().contains("prediction"));
    }
}
