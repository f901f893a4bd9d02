//! What spoke in a score, in words.

use crate::about::{About, ChannelName};
use crate::shares::Share;
use offnominal_core::evidence::Evidence as Found;
use serde::Serialize;

/// A channel with so large a part of the score is the one; with a smaller part it is one of several.
const NEARLY_ALL: f64 = 0.9;

/// What spoke in the score of a step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Evidence {
    /// In words: which statistic, of which channel, against what.
    pub says: String,
    /// The step of the episode since which the statistic has been among the highest tenth of nominal steps, if the detector tells.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<u64>,
}

impl Evidence {
    /// Of the last step, whose score has these parts, if the detector tells them.
    pub(crate) fn new(found: Found, shares: Option<&[Share]>, last: u64, about: &About) -> Evidence {
        let Found { statistic, against, channel, steps } = found;
        let of = channel.map_or(String::new(), |channel| of(channel, shares, about));
        let since = steps.filter(|steps| *steps > 0).map(|steps| (last + 1).saturating_sub(steps));
        Evidence { says: format!("{statistic}{of} against {against}"), since }
    }
}

/// Which channel it is of, as far as one can be named.
fn of(channel: usize, shares: Option<&[Share]>, about: &About) -> String {
    let Some(ChannelName { name, .. }) = about.observation.get(channel) else {
        let command = about.action.get(channel - about.obs_width());
        return command.map_or(String::new(), |command| format!(" of the command {}", command.name));
    };
    let part = |shares: &[Share]| {
        let own = shares.iter().find(|share| share.name == *name).map_or(0.0, |share| share.share);
        own / shares.iter().map(|share| share.share).sum::<f64>()
    };
    if shares.is_some_and(|shares| part(shares) >= NEARLY_ALL) {
        format!(" of {name}")
    } else {
        format!(" of several channels, most of all {name},")
    }
}
