//! The names in a campaign: each must exist, and an error says on which line it stands.

use crate::campaign::choice::class;
use crate::campaign::{Anomalies, AnomalyChoice, Campaign, CampaignDetector, MagnitudeChoice};
use anyhow::{Context, Result, bail, ensure};
use offnominal_core::anomaly_spec::{self, DYNAMICS};
use offnominal_core::catalogue::BuildError;
use offnominal_core::suggest::did_you_mean;
use offnominal_engine::detector_choice::DetectorChoice;
use offnominal_engine::{catalogues, noise, strengths};
use offnominal_hosts::foreign;
use std::collections::HashSet;

/// Checks every name that needs no environment to be checked, and builds every detector.
pub(super) fn check(campaign: &Campaign, text: &str) -> Result<()> {
    plain(campaign)?;
    let environments = catalogues::environments();
    for env in campaign.envs.iter().filter(|env| foreign::named(env).is_none()) {
        let (world, level) = noise::parts(env);
        environments.find(world).with_context(|| at(text, env))?;
        level.map_or(Ok(()), noise::check).with_context(|| at(text, env))?;
    }
    for level in &campaign.strengths {
        strengths::check_level(level).with_context(|| at(text, level))?;
    }
    detectors(campaign, text)?;
    anomalies(campaign, text)?;
    levels(campaign, text)?;
    unique("envs", campaign.envs.iter(), text)?;
    unique("policies", campaign.policies.iter(), text)?;
    unique("strengths", campaign.strengths.iter(), text)?;
    diagnosed(campaign, text)?;
    unique("detectors", campaign.detectors.iter().map(|d| &d.choice.name), text)
}

/// Names travel to tables, pages and scripts: a name with a line break would be read there as something else.
fn plain(campaign: &Campaign) -> Result<()> {
    let each =
        |what: &'static str, names: &[String]| names.iter().map(|n| (what, n.clone())).collect::<Vec<_>>();
    let words =
        |d: &CampaignDetector| [Some(d.choice.id.clone()), Some(d.choice.name.clone()), d.fitted_on.clone()];
    let detectors = campaign.detectors.iter().flat_map(words).flatten().map(|name| ("detectors", name));
    let anomalies = match &campaign.anomalies {
        Anomalies::List(choices) => choices.as_slice(),
        Anomalies::All => &[],
    };
    let anomalies = anomalies.iter().flat_map(|a| [Some(&*a.id), a.name.as_deref(), a.strength()]).flatten();
    let all = [("name", campaign.name.clone())]
        .into_iter()
        .chain(each("envs", &campaign.envs))
        .chain(each("policies", &campaign.policies))
        .chain(each("strengths", &campaign.strengths))
        .chain(campaign.strengths_of.iter().map(|name| ("strengths_of", name.clone())))
        .chain(campaign.diagnosis.iter().map(|name| ("diagnosis", name.clone())))
        .chain(detectors)
        .chain(anomalies.map(|name| ("anomalies", name.to_string())));
    for (what, name) in all {
        without_control(what, &name)?;
    }
    Ok(())
}

/// Refuses a name with a control character, such as a line break.
pub(crate) fn without_control(what: &str, name: &str) -> Result<()> {
    let found = name.chars().find(|c| c.is_control());
    ensure!(
        found.is_none(),
        "{what}: expected no control character, found {:?} in {name:?}",
        found.unwrap_or(' ')
    );
    Ok(())
}

/// What is diagnosed are the alarms of a detector of the campaign.
fn diagnosed(campaign: &Campaign, text: &str) -> Result<()> {
    let Some(name) = &campaign.diagnosis else { return Ok(()) };
    let known = || campaign.detectors.iter().map(CampaignDetector::name);
    ensure!(
        known().any(|known| known == name),
        "{}: diagnosis: no detector of this campaign is called {name:?}{}; there are: {}",
        at_key(text, "diagnosis"),
        did_you_mean(name, known()),
        known().collect::<Vec<_>>().join(", ")
    );
    Ok(())
}

fn detectors(campaign: &Campaign, text: &str) -> Result<()> {
    for CampaignDetector { choice, fitted_on, .. } in &campaign.detectors {
        ensure!(
            campaign.images.is_none() || fitted_on.is_none(),
            "{}: fitted_on: expected none in a campaign of images, whose episodes the policy that acts plays again",
            at(text, &choice.name)
        );
        built(campaign, choice).with_context(|| at(text, &choice.id))?;
    }
    Ok(())
}

/// Builds a detector. One that lacks weights is named when it is to be fitted: a suite leaves it out.
fn built(campaign: &Campaign, choice: &DetectorChoice) -> Result<(), BuildError> {
    if campaign.images.is_none() {
        return catalogues::detectors().build(&choice.id, &choice.params).map(|_| ());
    }
    match catalogues::image_detectors().build(&choice.id, &choice.params) {
        Err(BuildError::Missing(_)) => Ok(()),
        found => found.map(|_| ()),
    }
}

/// Anomalies of signals are known; `dyn-<parameter>` and patterns are resolved against each environment later.
fn anomalies(campaign: &Campaign, text: &str) -> Result<()> {
    let Anomalies::List(choices) = &campaign.anomalies else { return Ok(()) };
    let all = catalogues::anomalies();
    let known = anomaly_spec::ids(all.entries().iter().map(|e| e.id), std::iter::once("<parameter>"));
    let resolved_later = |pattern: &str| pattern.ends_with('*') || pattern.starts_with(DYNAMICS);
    for pattern in choices.iter().flat_map(mentioned).filter(|p| !resolved_later(p)) {
        ensure!(
            known.iter().any(|id| id == pattern),
            "{}: no anomaly is called {pattern:?}{}; there are: {}",
            at(text, pattern),
            did_you_mean(pattern, known.iter().map(String::as_str)),
            known.join(", ")
        );
    }
    choices.iter().try_for_each(|choice| sensible(choice, &known, text))?;
    different(choices, text)
}

/// The ids that a choice mentions.
fn mentioned(choice: &AnomalyChoice) -> impl Iterator<Item = &str> {
    let other = match &choice.magnitude {
        MagnitudeChoice::CalibratedFor(other) => Some(&**other),
        MagnitudeChoice::Calibrated | MagnitudeChoice::Fixed { .. } => None,
    };
    std::iter::once(&*choice.id).chain(other).chain(choice.with.iter().map(|(id, _)| &**id))
}

/// A name tells an anomaly from all others, and what it borrows magnitudes from is at least of its own class.
fn sensible(choice: &AnomalyChoice, known: &[String], text: &str) -> Result<()> {
    let (id, called) = (&choice.id, choice.called());
    ensure!(
        choice.name.is_none() || !(known.contains(&called) || called.starts_with(DYNAMICS)),
        "{}: {id}: expected a `name` that no anomaly has for an id, found {called:?}",
        at(text, &called)
    );
    if let MagnitudeChoice::CalibratedFor(other) = &choice.magnitude {
        let [own, others] = [id, other].map(|id| class(id));
        ensure!(
            own == others,
            "{}: {id}: expected a `magnitude_of` of the same class, {own}, found {other:?}, of {others}",
            at(text, other)
        );
    }
    Ok(())
}

/// An anomaly may stand there once under a name without a magnitude, and once at each strength of its own.
fn different(choices: &[AnomalyChoice], text: &str) -> Result<()> {
    let mut seen = HashSet::new();
    for choice in choices {
        let (called, strength) = (choice.called(), choice.strength());
        let (what, hint) = match strength {
            None => (String::new(), " (an anomaly may be given a `name`)"),
            Some(s) => (format!(" at {s}"), " (an anomaly with a magnitude may be given another `strength`)"),
        };
        ensure!(
            seen.insert((called.clone(), strength)),
            "{}: anomalies: expected different anomalies, found {called:?} twice{what}{hint}",
            at(text, &called)
        );
    }
    Ok(())
}

/// Anomalies without a magnitude of their own need a level.
fn levels(campaign: &Campaign, text: &str) -> Result<()> {
    let needs = match &campaign.anomalies {
        Anomalies::All => Some("all".to_string()),
        Anomalies::List(list) => list.iter().find(|c| c.strength().is_none()).map(AnomalyChoice::called),
    };
    if let (Some(anomaly), true) = (needs, campaign.strengths.is_empty()) {
        bail!(
            "{}: strengths: expected at least one level for {anomaly:?}, which has no magnitude, found none",
            at_key(text, "strengths")
        );
    }
    Ok(())
}

fn unique<'a>(what: &str, names: impl Iterator<Item = &'a String>, text: &str) -> Result<()> {
    let hint = if what == "detectors" { " (a detector may be given another `name`)" } else { "" };
    let mut seen = HashSet::new();
    for name in names {
        ensure!(
            seen.insert(name),
            "{}: {what}: expected different names, found {name:?} twice{hint}",
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

/// The line on which a key gets its value.
pub(super) fn at_key(text: &str, key: &str) -> String {
    let is_there = |line: &str| {
        line.trim_start().strip_prefix(key).is_some_and(|rest| rest.trim_start().starts_with('='))
    };
    text.lines().position(is_there).map_or("the campaign".into(), |at| format!("line {}", at + 1))
}
