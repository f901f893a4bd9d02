//! The order of importance of several requirements, for strategies, which compare one number of each experiment.
//!
//! Experiments are compared lexicographically: by the margin of the most important requirement, where that is the same by the
//! margin of the next one, and so on. A broken requirement has no margin left, however far it is broken; so beyond a failure of
//! the first requirement those of the next ones are looked for, and what breaks only the second is no better than what comes
//! nearer to breaking the first.
//!
//! Promise: the number orders experiments so, where margins within 0.4 % of one another count as the same, and behind the
//! requirements that are broken only the next three are looked at: a double has no room for more.

/// Binary digits of a margin: the exponent and eight of the mantissa, of single precision.
const DIGITS: u32 = 16;
/// Margins that are compared behind the broken ones.
const LOOKED_AT: usize = 3;

/// The number; 0 where all requirements are broken, and the smaller the more dangerous.
pub(super) fn rank(margins: &[f64]) -> f64 {
    let n_broken = margins.iter().take_while(|margin| **margin <= 0.0).count();
    let mut number = (margins.len() - n_broken) as u64;
    for i in 0..LOOKED_AT {
        let margin = margins.get(n_broken + i).map_or(0.0, |margin| margin.max(0.0));
        number = (number << DIGITS) + u64::from((margin as f32).to_bits() >> (31 - DIGITS));
    }
    number as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use offnominal_core::Rng;

    /// The same by the definition, with margins far enough from one another.
    fn is_more_dangerous(a: &[f64], b: &[f64]) -> bool {
        let left = |margins: &[f64]| margins.iter().map(|m| m.max(0.0)).collect::<Vec<_>>();
        left(a) < left(b)
    }

    #[test]
    fn the_rank_orders_as_margins_do_one_after_another() {
        let mut rng = Rng::new(1);
        let mut margins =
            || (0..4).map(|_| [-2.0, 0.0, 1e-9, 0.5, 3.0, 1e9][rng.below(6)]).collect::<Vec<f64>>();
        for _ in 0..20_000 {
            let (a, b) = (margins(), margins());
            let same = a[..3].iter().zip(&b).all(|(a, b)| a.max(0.0) == b.max(0.0));
            assert!(same || (rank(&a) < rank(&b)) == is_more_dangerous(&a, &b), "{a:?} {b:?}");
        }
        assert_eq!(rank(&[-1.0, 0.0]), 0.0);
        assert!(rank(&[1e9; 17]) < 2.0_f64.powi(53), "every number is exact");
    }
}
