//! The names in a campaign: each must exist, and an error says on which line it stands.

use super::{Anomalies, Campaign};
use crate::{catalogues, strengths};
use anyhow::{Context, Result, ensure};
use offnominal_core::fault::DYNAMICS;
use std::collections::HashSet;

/// Checks every name that needs no world to be checked, and builds every detector.
pub(super) fn check(campaign: &Campaign, text: &str) -> Result<()> {
    let worlds = catalogues::worlds();
    for env in &campaign.envs {
        worlds.find(env).with_context(|| at(text, env))?;
    }
    for level in &campaign.strengths {
        strengths::check_level(level).with_context(|| at(text, level))?;
    }
    detectors(campaign, text)?;
    anomalies(campaign, text)?;
    unique("envs", campaign.envs.iter(), text)?;
    unique("policies", campaign.policies.iter(), text)?;
    unique("strengths", campaign.strengths.iter(), text)?;
    unique("detectors", campaign.detectors.iter().map(|d| &d.name), text)
}

fn detectors(campaign: &Campaign, text: &str) -> Result<()> {
    let catalogue = catalogues::detectors();
    for choice in &campaign.detectors {
        catalogue.build(&choice.id, &choice.params).with_context(|| at(text, &choice.id))?;
    }
    Ok(())
}

/// Anomalies of signals are known; `dyn-<parameter>` and patterns are resolved against each world later.
fn anomalies(campaign: &Campaign, text: &str) -> Result<()> {
    let Anomalies::List(choices) = &campaign.anomalies else { return Ok(()) };
    let catalogue = catalogues::anomalies();
    for pattern in choices.iter().map(|c| c.pattern()) {
        if !pattern.ends_with('*') && !pattern.starts_with(DYNAMICS) {
            catalogue.find(pattern).with_context(|| at(text, pattern))?;
        }
    }
    Ok(())
}

fn unique<'a>(what: &str, names: impl Iterator<Item = &'a String>, text: &str) -> Result<()> {
    let mut seen = HashSet::new();
    for name in names {
        ensure!(
            seen.insert(name),
            "{}: {what}: expected different names, found {name:?} twice (a detector may be given another `name`)",
            at(text, name)
        );
    }
    Ok(())
}

/// The line on which a quoted name last stands: of a name that is there twice, the second is too many.
pub(super) fn at(text: &str, name: &str) -> String {
    let quoted = [format!("\"{name}\""), format!("'{name}'")];
    let last = quoted.iter().filter_map(|q| text.rfind(q.as_str())).max();
    last.map_or("the campaign".into(), |at| format!("line {}", text[..at].matches('\n').count() + 1))
}
