//! Which part of a score is due to which channel.

use crate::about::ChannelName;
use serde::Serialize;

/// The part of a score that is due to one number of the observation.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Share {
    /// Name of the number.
    pub name: String,
    /// Its part, in units of the score: all parts sum to the score.
    pub share: f64,
}

/// Parts with their names, the largest first; those of nothing are left out.
pub(crate) fn named(shares: &[f64], channels: &[ChannelName]) -> Vec<Share> {
    let with_part = channels.iter().zip(shares).filter(|(_, share)| **share != 0.0);
    let mut named: Vec<Share> =
        with_part.map(|(channel, share)| Share { name: channel.name.clone(), share: *share }).collect();
    named.sort_by(|a, b| b.share.abs().total_cmp(&a.share.abs()));
    named
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_part_comes_first_and_nothing_is_left_out() {
        let channels = ["a", "b", "c"].map(|name| ChannelName {
            name: name.into(),
            unit: "1".into(),
            ..ChannelName::default()
        });
        let found = named(&[0.5, 0.0, 3.0], &channels);
        let share = |name: &str, share| Share { name: name.into(), share };
        assert_eq!(found, [share("c", 3.0), share("a", 0.5)]);
    }
}
