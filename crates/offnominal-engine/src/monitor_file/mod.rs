//! Monitors of the engine's environments: made, opened again with their policies, and compared with episodes.

use crate::subject::Subject;
use crate::{catalogues, noise, policies};
use anyhow::{Result, ensure};
use offnominal_core::archive::Archive;
use offnominal_core::prelude::*;
use offnominal_files::dataset::Dataset;
use offnominal_files::read;
use offnominal_files::store::address;
use offnominal_monitor::{About, FileError, Identity, Monitor, channel_names};
pub use offnominal_work::monitor_file::{Fit, LOST_AFTER, Made, PlayFaults, System};
use std::path::Path;

/// An environment and a policy of the engine.
pub fn system(subject: &Subject) -> System<'_> {
    let (spec, name) = (subject.env.spec(), &subject.name);
    System {
        environment: identity(spec),
        policy_name: Identity { id: name.id.clone(), digest: name.digest.clone() },
        policy: Some(subject.policy.as_ref()),
        observation: channel_names(&spec.observation),
        action: channel_names(&spec.action),
        dt_secs: spec.dt_secs,
        assumes_dt: spec.assumes_dt,
        mapping: None,
    }
}

/// An environment's name with the digest of its specification.
pub fn identity(spec: &EnvSpec) -> Identity {
    let digest = address(&serde_json::to_vec(spec).expect("a specification is valid JSON"));
    Identity { id: spec.id.clone(), digest }
}

/// Opens a monitor's file; a detector that looks inside the policy finds it by its name.
///
/// # Errors
/// As [`Monitor::open`], or if there is no such policy any longer.
pub fn open(path: &Path) -> Result<Monitor> {
    read::open(path)?;
    let policy = |about: &About| same_policy(about).map_err(|e| format!("{e:#}"));
    Ok(Monitor::open_with(path, &catalogues::detectors(), policy)?)
}

/// Brings a monitor back from the contents of its file, as [`open`] does.
///
/// # Errors
/// If its detector or its policy is not there any longer, or the numbers are not those of one.
pub fn restore(about: About, archive: &Archive) -> Result<Monitor> {
    let (known, again) = (catalogues::detectors(), about.clone());
    match Monitor::new(about, archive, &known, None) {
        Err(FileError::Numbers(ArchiveError::NoPolicy)) => {
            let policy = same_policy(&again)?;
            Ok(Monitor::new(again, archive, &known, Some(policy.as_ref()))?)
        }
        made => Ok(made?),
    }
}

fn same_policy(about: &About) -> Result<Box<dyn Policy>> {
    let env = catalogues::environment(&about.environment.id, None)?;
    let found = policies::find(&about.policy.id, env.as_ref())?;
    let (expected, digest) = (&about.policy.digest, &found.digest);
    ensure!(digest == expected, "it was trained anew: expected SHA-256 {expected}, found {digest}");
    Ok(found.policy)
}

/// Checks that episodes are of the environment that a monitor was fitted on.
///
/// # Errors
/// If the environment is another one, its channels are, or its specification has changed since.
pub fn check(monitor: &Monitor, dataset: &Dataset) -> Result<()> {
    let (about, recipe) = (monitor.about(), &dataset.recipe);
    let (expected, found) = (&about.environment.id, &recipe.env);
    ensure!(
        found == expected,
        "expected episodes of {expected}, which the monitor was fitted on, found {found}"
    );
    let widths = [about.obs_width(), about.act_width()];
    let found = [recipe.obs_width(), recipe.act_width()];
    ensure!(
        widths == found,
        "expected {} observation and {} action channels, found {} and {}",
        widths[0],
        widths[1],
        found[0],
        found[1]
    );
    let known = catalogues::environments();
    if known.entries().iter().any(|entry| entry.id == noise::base(&about.environment.id)) {
        let now = identity(catalogues::environment(&about.environment.id, None)?.spec());
        ensure!(
            now == about.environment,
            "the environment {} has changed since the monitor was fitted: expected the specification {}, found {}",
            now.id,
            about.environment.digest,
            now.digest
        );
    }
    Ok(())
}
