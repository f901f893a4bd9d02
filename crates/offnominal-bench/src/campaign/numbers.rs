//! The numbers in a campaign: each must be possible, and an error says on which line it stands.

use crate::campaign::{Campaign, Episodes, names};
use anyhow::{Result, ensure};
use offnominal_core::limits::{EPISODES, REPETITIONS, REPLICATES};
use offnominal_stats::{Promise, Rule};
use std::ops::RangeInclusive;

/// Checks every number and that no list is empty that must not be.
pub(super) fn check(campaign: &Campaign, text: &str) -> Result<()> {
    let Episodes { train, validation, test } = campaign.episodes;
    for (name, n) in [("train", train), ("validation", validation), ("test", test)] {
        within(&format!("episodes.{name}"), n, 1..=EPISODES, text)?;
    }
    if let Some(side) = campaign.images {
        within("images", side, 16..=1024, text)?;
        ensure!(
            campaign.diagnosis.is_none(),
            "{}: diagnosis: expected none in a campaign of images: alarms are diagnosed from sensors",
            names::at_key(text, "diagnosis")
        );
    }
    within("replicates", campaign.replicates, 2..=REPLICATES, text)?;
    within("seeds", usize::try_from(campaign.seeds).unwrap_or(usize::MAX), 1..=REPETITIONS, text)?;
    within("traces", campaign.traces, 0..=EPISODES, text)?;
    lists(campaign)?;
    conformal(campaign, text)
}

/// Checks a number against the smallest and the largest that is possible.
fn within(key: &str, found: usize, range: RangeInclusive<usize>, text: &str) -> Result<()> {
    let (least, most) = range.into_inner();
    let line = || names::at_key(text, key.rsplit('.').next().unwrap_or(key));
    ensure!(found >= least, "{}: {key}: expected at least {least}, found {found}", line());
    ensure!(found <= most, "{}: {key}: expected at most {most}, found {found}", line());
    Ok(())
}

fn lists(campaign: &Campaign) -> Result<()> {
    ensure!(!campaign.name.trim().is_empty(), "name: expected a name, found none");
    ensure!(!campaign.envs.is_empty(), "envs: expected at least one environment, found none");
    ensure!(!campaign.policies.is_empty(), "policies: expected at least one policy, found none");
    ensure!(!campaign.detectors.is_empty(), "detectors: expected at least one detector, found none");
    Ok(())
}

/// The conformal threshold must be possible with the validation episodes.
fn conformal(campaign: &Campaign, text: &str) -> Result<()> {
    let (alpha, found) = (campaign.false_alarms, campaign.episodes.validation);
    ensure!(
        alpha > 0.0 && alpha < 1.0,
        "{}: false_alarms: expected a share between 0 and 1, found {alpha}",
        names::at_key(text, "false_alarms")
    );
    let needed = Rule::Conformal(Promise::on_average(alpha)).min_episodes();
    ensure!(
        found >= needed,
        "{}: episodes.validation: expected at least {needed} for the conformal threshold with false_alarms = {alpha}, \
         found {found}",
        names::at_key(text, "validation")
    );
    Ok(())
}
