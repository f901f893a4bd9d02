//! The large-margin loss: a demonstrated choice shall be worth more than every other one.
//!
//! J = max_a (Q(s, a) + l(a)) − Q(s, a*), where a* is the demonstrator's choice and l(a) its lead, or 0 for a* itself.
//! It is 0 where all other choices are worth less by at least the lead, and so leaves the values themselves to the
//! rewards. Reference: Hester et al., "Deep Q-learning from Demonstrations", AAAI 2018, equation 2; Piot, Geist &
//! Pietquin, ECML 2014.

use crate::replay::Batch;

/// How much less every other choice shall be worth (section 4 of the reference, for rewards of −1 to 1).
pub(super) const LEAD: f32 = 0.8;

/// Adds the derivatives of weight · mean J by the values, `[n, choices]`; transitions without a demonstrator count 0.
/// Returns that sum.
pub(super) fn add(weight: f32, batch: &Batch, values: &[f32], d_values: &mut [f32]) -> f64 {
    let (width, mut sum) = (values.len() / batch.len(), 0.0);
    let rows = values.chunks_exact(width).zip(d_values.chunks_exact_mut(width));
    for (i, (row, d)) in rows.enumerate() {
        let (told, scale) = (batch.advice[i] as usize, weight * batch.demonstrated[i] / batch.len() as f32);
        let (rival, short) = shortfall(row, told);
        d[rival] += scale;
        d[told] -= scale;
        sum += f64::from(scale * short);
    }
    sum
}

/// The choice that comes nearest to the demonstrated one, or that one itself where none comes too near; and J.
fn shortfall(row: &[f32], told: usize) -> (usize, f32) {
    let raised = |a: usize| row[a] + if a == told { 0.0 } else { LEAD };
    let rival = (0..row.len()).fold(told, |best, a| if raised(a) > raised(best) { a } else { best });
    (rival, raised(rival) - row[told])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_demonstrated_choice_must_lead_all_others() {
        assert_eq!(shortfall(&[1.0, 0.1, 0.0], 0), (0, 0.0));
        assert_eq!(shortfall(&[1.0, 0.5, 0.0], 0).0, 1);
        assert!((shortfall(&[1.0, 0.5, 0.0], 0).1 - 0.3).abs() < 1e-6);
        assert!((shortfall(&[1.0, 0.5, 0.0], 2).1 - 1.8).abs() < 1e-6);
    }

    #[test]
    fn what_nobody_demonstrated_counts_nothing() {
        let mut batch = Batch::new(2, 1, 1);
        (batch.demonstrated, batch.advice) = (vec![0.0, 1.0], vec![1.0, 1.0]);
        let mut d_values = vec![0.0; 4];
        let sum = add(2.0, &batch, &[0.5, 0.0, 0.5, 0.0], &mut d_values);
        assert_eq!(d_values, [0.0, 0.0, 1.0, -1.0]);
        assert!((sum - 1.3).abs() < 1e-6, "{sum}");
    }
}
