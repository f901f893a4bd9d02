//! Which part of a score is due to each channel.
//!
//! Where q = gᵀ C⁻¹ g, channel j contributes g_j (C⁻¹ g)_j: the sum is q, and by Euler's theorem so much of q comes from moving
//! g_j from zero, if all channels move together. It is below zero for a channel that explains others away, which then has no
//! part. A score that is a function of q is shared out in proportion. It is *what the score was made of*, not what is broken:
//! a fault of one sensor also moves what the model predicts of others.
//!
//! Reference: partial decomposition contributions, Alcala and Qin, Journal of Process Control 2011; sharing along a ray, Aumann and
//! Shapley 1974.

/// Writes the parts of a score, in proportion to what each channel contributes, to the numbers of the observation that the
/// channels are. Channels that contribute nothing at all have equal parts.
pub(crate) fn share_out(score: f64, contributions: &[f64], channels: &[usize], shares: &mut [f64]) {
    shares.fill(0.0);
    let total: f64 = contributions.iter().take(channels.len()).sum();
    if channels.is_empty() {
        shares.fill(score / shares.len() as f64);
        return;
    }
    let is_sound = total > 0.0 && total.is_finite();
    for (&channel, contribution) in channels.iter().zip(contributions) {
        let part = if is_sound { contribution / total } else { 1.0 / channels.len() as f64 };
        shares[channel] = score * part;
    }
}

/// The channel that contributes most, if any does.
pub(crate) fn foremost(contributions: &[f64]) -> Option<usize> {
    let most = |most: (Option<usize>, f64), (j, &x)| if x > most.1 { (Some(j), x) } else { most };
    contributions.iter().enumerate().fold((None, 0.0), most).0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_in_proportion_and_nothing_is_lost_where_nothing_contributes() {
        let mut shares = [f64::NAN; 4];
        share_out(8.0, &[1.0, 3.0], &[3, 0], &mut shares);
        assert_eq!(shares, [6.0, 0.0, 0.0, 2.0]);
        share_out(-8.0, &[0.0, 0.0], &[3, 0], &mut shares);
        assert_eq!(shares, [-4.0, 0.0, 0.0, -4.0]);
        assert_eq!([foremost(&[1.0, 3.0, 3.0]), foremost(&[0.0, 0.0])], [Some(1), None]);
        share_out(8.0, &[0.5], &[], &mut shares);
        assert_eq!(shares, [2.0; 4]);
    }
}
