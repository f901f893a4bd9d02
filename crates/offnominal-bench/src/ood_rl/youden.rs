//! The threshold that separates best: the largest difference of true and false positive rates.
//!
//! J = max over θ of P(s⁺ ≥ θ) − P(s⁻ ≥ θ). Reference: Youden, Cancer 3, 1950.

/// The threshold with the largest J, the highest of equals; none if a class is empty.
pub(super) fn threshold(positive: &[f64], negative: &[f64]) -> Option<f64> {
    let label = |scores: &[f64], l: bool| scores.iter().map(move |&s| (s, l)).collect::<Vec<_>>();
    let mut all = [label(positive, true), label(negative, false)].concat();
    all.sort_by(|a, b| b.0.total_cmp(&a.0));
    let (mut rates, mut best) = ([0.0, 0.0], None::<(f64, f64)>);
    for (i, &(score, is_positive)) in all.iter().enumerate() {
        rates[usize::from(!is_positive)] += 1.0;
        let is_last = all.get(i + 1).is_none_or(|next| next.0 != score);
        let j = rates[0] / positive.len() as f64 - rates[1] / negative.len() as f64;
        if is_last && best.is_none_or(|(most, _)| j > most) {
            best = Some((j, score));
        }
    }
    best.filter(|_| !positive.is_empty() && !negative.is_empty()).map(|(_, threshold)| threshold)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_threshold_by_hand() {
        // At 3: all of the positives but one, and none of the negatives.
        assert_eq!(threshold(&[5.0, 3.0, 4.0, 1.0], &[2.0, 1.0, 0.0]), Some(3.0));
        // Equal scores are one threshold.
        assert_eq!(threshold(&[1.0, 1.0], &[1.0, 0.0]), Some(1.0));
        assert_eq!((threshold(&[], &[1.0]), threshold(&[1.0], &[])), (None, None));
    }
}
