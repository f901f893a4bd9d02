//! The large-margin loss: the value of a demonstrated choice exceeds that of every other one by a margin.
//!
//! J = max_a (Q(s, a) + l(a)) − Q(s, a*), where a* is the demonstrator's choice and l(a) the margin, or 0 for a* itself.
//! It is 0 where all other values are below that of a* by at least the margin, so the rewards determine the values.
//! Reference: Hester et al., "Deep Q-learning from Demonstrations", AAAI 2018, equation 2; Piot, Geist &
//! Pietquin, ECML 2014.

use crate::replay::Batch;

/// The margin (section 4 of the reference, for rewards of −1 to 1).
pub(super) const MARGIN: f32 = 0.8;

/// Adds the derivatives of weight · mean J by the values, `[n, choices]`; transitions without a demonstrator count 0.
/// Returns that sum.
pub(super) fn add(weight: f32, batch: &Batch, values: &[f32], d_values: &mut [f32]) -> f64 {
    let (width, mut sum) = (values.len() / batch.len(), 0.0);
    let rows = values.chunks_exact(width).zip(d_values.chunks_exact_mut(width));
    for (i, (row, d)) in rows.enumerate() {
        let (told, scale) = (batch.advice[i] as usize, weight * batch.advised[i] / batch.len() as f32);
        let (rival, short) = shortfall(row, told);
        d[rival] += scale;
        d[told] -= scale;
        sum += f64::from(scale * short);
    }
    sum
}

/// The choice that violates the margin most, or the demonstrated one where none does; and J.
fn shortfall(row: &[f32], demonstrated: usize) -> (usize, f32) {
    let raised = |a: usize| row[a] + if a == demonstrated { 0.0 } else { MARGIN };
    let rival = (0..row.len()).fold(demonstrated, |best, a| if raised(a) > raised(best) { a } else { best });
    (rival, raised(rival) - row[demonstrated])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_demonstrated_choice_must_exceed_all_others_by_the_margin() {
        assert_eq!(shortfall(&[1.0, 0.1, 0.0], 0), (0, 0.0));
        assert_eq!(shortfall(&[1.0, 0.5, 0.0], 0).0, 1);
        assert!((shortfall(&[1.0, 0.5, 0.0], 0).1 - 0.3).abs() < 1e-6);
        assert!((shortfall(&[1.0, 0.5, 0.0], 2).1 - 1.8).abs() < 1e-6);
    }

    #[test]
    fn transitions_without_a_demonstrator_count_nothing() {
        let mut batch = Batch::new(2, 1, 1);
        (batch.advised, batch.advice) = (vec![0.0, 1.0], vec![1.0, 1.0]);
        let mut d_values = vec![0.0; 4];
        let sum = add(2.0, &batch, &[0.5, 0.0, 0.5, 0.0], &mut d_values);
        assert_eq!(d_values, [0.0, 0.0, 1.0, -1.0]);
        assert!((sum - 1.3).abs() < 1e-6, "{sum}");
    }
}
