//! The catalogues in which commands look things up: what is built in, and what a program around this library adds.
//!
//! A program adds its own environments, policies and detectors once, before its first command; `examples/own_env.rs`
//! is one.

use crate::{images, noise};
use anyhow::{Result, ensure};
use offnominal_core::anomaly::Anomaly;
use offnominal_core::anomaly_spec;
use offnominal_core::catalogue::BuildError;
use offnominal_core::detector::Detector;
use offnominal_core::env::Env;
use offnominal_core::image_detector::ImageDetector;
use offnominal_core::policy::Policy;
use offnominal_core::spec::EnvSpec;
use offnominal_core::{Catalogue, Entry};
use offnominal_files::confined;
use offnominal_hosts::foreign;
use offnominal_worlds::{anomaly, demonstrator};
use serde_json::{Value, json};
use std::collections::HashSet;
use std::sync::OnceLock;

/// What a program adds to what is built in.
#[derive(Default)]
pub struct Extras {
    /// Environments; the specification of each has the id of its entry.
    pub environments: Vec<Entry<dyn Env>>,
    /// Policies.
    pub policies: Vec<OwnPolicy>,
    /// Detectors.
    pub detectors: Vec<Entry<dyn Detector>>,
    /// Anomalies.
    pub anomalies: Vec<Entry<dyn Anomaly>>,
    /// Image detectors.
    pub image_detectors: Vec<Entry<dyn ImageDetector>>,
}

/// A policy that a program brings. Finished work is found again by its id: a policy that was changed needs another one.
#[derive(Clone, Copy)]
pub struct OwnPolicy {
    /// The environment in which it acts.
    pub env: &'static str,
    /// Its name and how it is made.
    pub entry: Entry<dyn Policy>,
}

static EXTRAS: OnceLock<Extras> = OnceLock::new();

/// Adds to the catalogues of this process, once and before anything is looked up.
///
/// # Errors
/// If an id is there twice, or the catalogues of this process are fixed already.
pub fn extend(extras: Extras) -> Result<()> {
    unique("environment", offnominal_worlds::ENVS, &extras.environments)?;
    unique("detector", offnominal_detectors::ALL, &extras.detectors)?;
    unique("anomaly", offnominal_worlds::ANOMALIES, &extras.anomalies)?;
    unique("image detector", &images::catalogue::built_in(), &extras.image_detectors)?;
    let mut known = HashSet::new();
    for OwnPolicy { env, entry } in &extras.policies {
        let is_new = !["random", demonstrator::NAME].contains(&entry.id) && known.insert((env, entry.id));
        ensure!(is_new, "policy {:?} of {env}: expected an id of its own, found one that is taken", entry.id);
    }
    offnominal_work::detectors::extend(extras.detectors.clone())?;
    ensure!(EXTRAS.set(extras).is_ok(), "expected one extension of the catalogues, found a second");
    Ok(())
}

fn unique<T: ?Sized>(noun: &str, built_in: &[Entry<T>], own: &[Entry<T>]) -> Result<()> {
    let mut known: HashSet<&str> = built_in.iter().map(|e| e.id).collect();
    for Entry { id, .. } in own {
        ensure!(known.insert(id), "{noun} {id:?}: expected an id of its own, found one that is taken");
    }
    Ok(())
}

fn extras() -> &'static Extras {
    EXTRAS.get_or_init(Extras::default)
}

fn extended<T: ?Sized>(noun: &'static str, built_in: &[Entry<T>], own: &[Entry<T>]) -> Catalogue<T> {
    own.iter().fold(Catalogue::new(noun, built_in), |all, entry| all.with(*entry))
}

/// The environments.
pub fn environments() -> Catalogue<dyn Env> {
    extended("environment", offnominal_worlds::ENVS, &extras().environments)
}

/// An environment, around the robot at an address if there is one, or an environment of Gymnasium; with nominal noise
/// where its id asks for it.
///
/// # Errors
/// If there is no such environment or noise, it is none of robots, or the robot cannot be used.
pub fn environment(id: &str, robot: Option<&str>) -> Result<Box<dyn Env>, BuildError> {
    if let Some(theirs) = foreign::named(id) {
        let refused =
            robot.map(|_| BuildError::Parameters(format!("environment {id}: expected no robot, found one")));
        return refused.map_or_else(|| foreign::open(theirs).map_err(|e| BuildError::Missing(e.into())), Err);
    }
    let (world, level) = noise::parts(id);
    if let (Some(level), Some(_)) = (level, robot) {
        let why = format!("noise {level:?}: expected no noise on a robot, which has its own");
        return Err(BuildError::Parameters(why));
    }
    let options = robot.map_or(json!({}), |host| json!({ "robot": host }));
    with_options(world, level, &options)
}

/// An environment with these options of its entry, with nominal noise where its id asks for it.
///
/// # Errors
/// If there is no such environment, option or noise.
pub fn configured(id: &str, options: &Value) -> Result<Box<dyn Env>, BuildError> {
    let (world, level) = noise::parts(id);
    with_options(world, level, options)
}

fn with_options(world: &str, level: Option<&str>, options: &Value) -> Result<Box<dyn Env>, BuildError> {
    if let Some(robot) = options.get("robot") {
        let moves = confined::may_run(&format!("the robot at {robot}"));
        moves.map_err(|why| BuildError::Missing(why.into()))?;
    }
    let env = environments().build(world, options).map_err(|why| elsewhere(world, why))?;
    let Some(level) = level else { return Ok(env) };
    noise::apply(env, level).map_err(|why| BuildError::Missing(format!("{why:#}").into()))
}

/// The same, with the way to Gymnasium where a name looks like one of its.
fn elsewhere(world: &str, why: BuildError) -> BuildError {
    let version = world.rsplit_once("-v").map_or("", |(_, version)| version);
    let is_theirs = !version.is_empty() && version.bytes().all(|digit| digit.is_ascii_digit());
    match why {
        BuildError::Unknown { noun, id, known, .. } if is_theirs => {
            BuildError::Unknown { nearest: Some(format!("gymnasium:{id}")), noun, id, known }
        }
        why => why,
    }
}

/// The anomalies.
pub fn anomalies() -> Catalogue<dyn Anomaly> {
    extended("anomaly", offnominal_worlds::ANOMALIES, &extras().anomalies)
}

/// The names of the anomalies that apply to an environment: those of its signals, `dyn-<parameter>` of each parameter,
/// and those of its camera.
pub fn anomaly_ids(spec: &EnvSpec) -> Vec<String> {
    let applicable: HashSet<&str> = anomaly::applicable(spec).map(|a| a.entry.id).collect();
    let is_built_in = |id: &str| offnominal_worlds::ANOMALIES.iter().any(|e| e.id == id);
    let (all, parameters) = (anomalies(), spec.parameters.iter().map(|p| p.name.as_str()));
    let entries = all.entries().iter().map(|e| e.id).filter(|id| applicable.contains(id) || !is_built_in(id));
    anomaly_spec::ids(entries, parameters)
}

/// Checks that an anomaly of that name applies to an environment.
///
/// # Errors
/// If none does, with the nearest name and all of [`anomaly_ids`].
pub fn check_anomaly(id: &str, spec: &EnvSpec) -> Result<(), BuildError> {
    anomaly_spec::check(id, &anomaly_ids(spec))
}

/// The detectors.
pub fn detectors() -> Catalogue<dyn Detector> {
    offnominal_work::detectors::catalogue()
}

/// The image detectors.
pub fn image_detectors() -> Catalogue<dyn ImageDetector> {
    extended("image detector", &images::catalogue::built_in(), &extras().image_detectors)
}

/// The policies that this program adds to those that are shipped.
pub fn own_policies() -> &'static [OwnPolicy] {
    &extras().policies
}

#[cfg(test)]
mod tests {
    use super::*;

    fn still(_: &[f32], action: &mut [f32]) {
        action.fill(0.0);
    }

    #[test]
    fn an_id_that_is_taken_is_refused() {
        let refused = |extras: Extras| extend(extras).unwrap_err().to_string();
        let environments = vec![offnominal_worlds::ENVS[0]];
        let error = refused(Extras { environments, ..Extras::default() });
        assert!(
            error.starts_with("environment \"mjc-cartpole-swingup\": expected an id of its own"),
            "{error}"
        );
        let build: fn(&serde_json::Value) -> _ = |_| Ok(Box::new(still) as Box<dyn Policy>);
        let entry = Entry { id: "random", summary: "", build, exempt: &[] };
        let error = refused(Extras { policies: vec![OwnPolicy { env: "w", entry }], ..Extras::default() });
        assert!(error.starts_with("policy \"random\" of w: expected an id of its own"), "{error}");
    }
}
