//! Finding a policy by the name a user gives it: an algorithm, a card's id, the id of one that this program brings, a
//! path, or `module:name` of Python.

pub mod beside;
pub mod bodies;
mod brought;
pub mod others;
mod place;
pub(crate) mod printed;
mod shipped;
mod vouched;
mod zoo;

use crate::catalogues::own_policies;
use crate::noise;
use anyhow::{Context, Result, bail, ensure};
pub use brought::{Make, bring};
use offnominal_agents::network::Network;
use offnominal_agents::onnx::Onnx;
use offnominal_agents::{Actor, Card};
use offnominal_core::env::Env;
use offnominal_core::policy::{Policy, Random};
use offnominal_core::spec::EnvSpec;
use offnominal_core::suggest::did_you_mean;
use offnominal_files::dataset::PolicyName;
use offnominal_files::played::Played;
use offnominal_files::read;
use offnominal_hosts::{foreign, remote};
use offnominal_nets::Tensors;
use offnominal_worlds::demonstrator;
use others::{Library, Other};
use place::Place;
pub use printed::Told;
use sha2::{Digest, Sha256};
use shipped::SHIPPED;
use std::path::Path;

/// A policy, and what is known of it.
pub struct KnownPolicy {
    /// The policy.
    pub policy: Box<dyn Policy>,
    /// The name under which results list it: the algorithm if it is shipped, else the name that was given.
    pub name: String,
    /// SHA-256 of its file, in hexadecimal digits; of the name, if it has no file.
    pub digest: String,
    /// Its card, if it has one.
    pub card: Option<Card>,
    /// The file that this program would write of it, if its own is of another library.
    pub own: Option<Vec<u8>>,
    /// How it is played, if another program made it.
    pub played: Option<Played>,
}

/// The policy of that name for the given environment; `random` is always there, `scripted` where one was written by hand.
///
/// # Errors
/// If there is no such policy for this environment, or its file is damaged.
pub fn find(name: &str, env: &dyn Env) -> Result<KnownPolicy> {
    // Noise does not change what a policy is.
    let spec = &without_noise(env.spec());
    // What has no file has the digest of what it is called.
    let without_file = |policy: Box<dyn Policy>, called: &str| {
        Ok(KnownPolicy::plain(policy, name.into(), digest(called.as_bytes())))
    };
    if name == "random" {
        return without_file(Box::new(Random::new(&spec.action)), name);
    }
    if name == demonstrator::NAME
        && let Some(policy) = demonstrator::of(&spec.id)
    {
        return without_file(policy, &format!("{} {name}", spec.id));
    }
    if let Some(own) = brought::find(name) {
        return Ok(KnownPolicy::plain((own.make)(env)?, name.into(), own.digest));
    }
    if let Some(own) = own_policies().iter().find(|own| own.env == spec.id && own.entry.id == name) {
        return without_file((own.entry.build)(&serde_json::json!({}))?, &format!("{} {name}", own.env));
    }
    for (bytes, card) in cards()? {
        if fits(&card.env, &spec.id) && (name == card.algorithm || name == card.id) {
            let actor = actor(bytes, spec).with_context(|| format!("shipped policy {}", card.id))?;
            let (name, digest) = (card.algorithm.clone(), digest(bytes));
            return Ok(KnownPolicy { card: Some(card), ..KnownPolicy::plain(Box::new(actor), name, digest) });
        }
    }
    if let Some(agent) = bodies::shipped(spec, name)? {
        return Ok(KnownPolicy::plain(Box::new(agent.actor), agent.name, agent.digest));
    }
    if remote::is_remote(name) {
        let (policy, digest) = remote::open(name, spec)?;
        let played = Some(Played::itself("another process", "as it answers", false));
        return Ok(KnownPolicy { played, ..KnownPolicy::plain(policy, name.into(), digest) }.remembered());
    }
    if let Some(place) = Place::find(name)? {
        return Ok(read_file(name, &place, spec)?.remembered());
    }
    if foreign::is_policy(name) {
        let (policy, digest) = foreign::policy(name, spec)?;
        let played = Some(Played::itself("an object of Python", "as it returns it", false));
        return Ok(KnownPolicy { played, ..KnownPolicy::plain(policy, name.into(), digest) }.remembered());
    }
    if let Some(path) = printed::find(name, spec)? {
        return find(&path, env);
    }
    missing(name, &spec.id)
}

/// The specification of the environment without its noise.
fn without_noise(spec: &EnvSpec) -> EnvSpec {
    EnvSpec { id: noise::base(&spec.id).into(), ..spec.clone() }
}

/// Environments that play the policies of another one: those of the robot are trained in its simulation, as in the
/// publication.
const PLAYS: &[(&str, &str)] = &[("urr-reach", "urm-reach")];

/// Whether policies trained in one environment act in another.
fn fits(trained_in: &str, env: &str) -> bool {
    let env = noise::base(env);
    trained_in == env || PLAYS.contains(&(env, trained_in))
}

/// The policy in these tensors, trained in this environment, with noise or without, or in one whose policies it plays.
fn actor(bytes: &[u8], spec: &EnvSpec) -> Result<Actor> {
    Actor::from_bytes(bytes, spec).or_else(|why| {
        let file = Tensors::from_bytes(bytes)?;
        let trained_in = file.entry("env");
        let world = noise::base(trained_in);
        let plays = world == spec.id || PLAYS.contains(&(spec.id.as_str(), world));
        if !plays {
            return Err(why.into());
        }
        Ok(Actor::from_bytes(bytes, &EnvSpec { id: trained_in.into(), ..spec.clone() })?)
    })
}

/// The policy of layers in these tensors, of this environment, with noise or without.
fn network(bytes: &[u8], spec: &EnvSpec) -> Result<Network> {
    let file = Tensors::from_bytes(bytes)?;
    let of = file.entry("env");
    let id = if noise::base(of) == spec.id { of } else { &spec.id };
    Ok(Network::from_bytes(bytes, &EnvSpec { id: id.into(), ..spec.clone() })?)
}

/// Whether this program brings a policy of that algorithm or id for an environment.
///
/// # Errors
/// If a shipped card is damaged.
pub fn is_shipped(name: &str, env: &str) -> Result<bool> {
    let named = |card: &Card| name == card.algorithm || name == card.id;
    Ok(cards()?.iter().any(|(_, card)| fits(&card.env, env) && named(card)))
}

/// Names and summaries of the policies that need no file.
///
/// # Errors
/// If a shipped card is damaged.
pub fn list() -> Result<Vec<(String, String)>> {
    let random = ("random".to_string(), "draws every command uniformly between its bounds".to_string());
    let summary = |card: Card| {
        let success = card.success_rate.as_ref().map_or(String::new(), |s| format!(", success {s:.2}"));
        (card.id, format!("return {:.1}{success}, {} steps of training", card.mean_return, card.best_step))
    };
    let scripted = (
        demonstrator::NAME.to_string(),
        format!("written by hand, reads what any policy reads; in {}", demonstrator::ENVIRONMENTS.join(", ")),
    );
    let own = own_policies().iter().map(|own| (own.entry.id.to_string(), own.entry.summary.to_string()));
    Ok([random, scripted]
        .into_iter()
        .chain(own)
        .chain(cards()?.into_iter().map(|(_, card)| summary(card)))
        .chain(bodies::list()?)
        .collect())
}

/// The shipped tensors with their cards.
fn cards() -> Result<Vec<(&'static [u8], Card)>> {
    let read = |&(id, card, tensors): &shipped::Files| {
        let card = serde_json::from_str(card).with_context(|| format!("card of the shipped policy {id}"))?;
        Ok((tensors, card))
    };
    SHIPPED.iter().map(read).collect()
}

/// The file of the policy of that name for the given environment; none, where it has no file of its own.
///
/// # Errors
/// If a shipped card is damaged, or the file cannot be read.
pub fn content(name: &str, env: &str) -> Result<Option<Vec<u8>>> {
    let named = |card: &Card| fits(&card.env, env) && (name == card.algorithm || name == card.id);
    if let Some((bytes, _)) = cards()?.into_iter().find(|(_, card)| named(card)) {
        return Ok(Some(bytes.to_vec()));
    }
    let path = Path::new(name);
    path.is_file().then(|| read::bytes(path)).transpose()
}

/// A policy from a file, with the card beside it if there is one.
fn read_file(name: &str, place: &Place, spec: &EnvSpec) -> Result<KnownPolicy> {
    let (name, path) = (name.to_string(), &place.path);
    if let Some(library) = Library::of(&place.ending()) {
        let Other { taken, digest, played, .. } = others::read(library, place, spec)?;
        let own = Some(taken.to_bytes());
        let found = KnownPolicy::plain(taken.into_policy(), name, digest);
        return Ok(KnownPolicy { own, played: Some(played), ..found });
    }
    place.options(&[])?;
    let bytes = read::bytes(path)?;
    let said = || path.display().to_string();
    if place.ending() == "onnx" {
        let beside = beside::read(path, &bytes).with_context(said)?;
        let policy = Box::new(Onnx::with_files(&bytes, &beside, spec).with_context(said)?);
        let mut all = Sha256::new_with_prefix(&bytes);
        beside.values().for_each(|file| all.update(file));
        let digest = offnominal_files::store::hex(&all.finalize());
        let played = Some(Played::itself("a network of ONNX", "cut at the bounds, or a choice", true));
        return Ok(KnownPolicy {
            card: card_beside(path, &bytes)?,
            played,
            ..KnownPolicy::plain(policy, name, digest)
        });
    }
    let policy: Box<dyn Policy> = match Network::is_in(&bytes) {
        true => Box::new(network(&bytes, spec).with_context(said)?),
        false => Box::new(actor(&bytes, spec).with_context(said)?),
    };
    let card = card_beside(path, &bytes)?;
    if card.is_none() {
        vouched::check(path, &bytes)?;
    }
    Ok(KnownPolicy { card, ..KnownPolicy::plain(policy, name, digest(&bytes)) })
}

impl KnownPolicy {
    /// One of which no more is known.
    fn plain(policy: Box<dyn Policy>, name: String, digest: String) -> KnownPolicy {
        KnownPolicy { policy, name, digest, card: None, own: None, played: None }
    }

    /// The same, found again by its printed name; how it is played is said, and a part of results.
    fn remembered(self) -> KnownPolicy {
        printed::remember(&self);
        self
    }

    /// The name for results.
    fn label(&self) -> String {
        PolicyName { id: self.name.clone(), digest: self.digest.clone() }.label()
    }
}

fn digest(content: &[u8]) -> String {
    offnominal_files::store::hex(&Sha256::digest(content))
}

/// The card beside a file of tensors; it must be the card of these tensors.
fn card_beside(path: &Path, tensors: &[u8]) -> Result<Option<Card>> {
    let file = path.with_extension("json");
    if !file.is_file() {
        return Ok(None);
    }
    let card: Card = read::json(&file)?;
    let found = digest(tensors);
    ensure!(
        found == card.sha256,
        "{} was edited: its card {} expects SHA-256 {}, found {found}",
        path.display(),
        file.display(),
        card.sha256
    );
    Ok(Some(card))
}

/// Writes the card of a policy beside its file.
///
/// # Errors
/// If it cannot be written.
pub fn write_card(card: &Card, policy: &Path) -> Result<()> {
    let text = serde_json::to_string_pretty(card)? + "\n";
    offnominal_files::write::atomically(&policy.with_extension("json"), text.as_bytes())
}

fn missing(name: &str, env: &str) -> Result<KnownPolicy> {
    let file = name.split('?').next().unwrap_or(name);
    let is_file = place::ENDINGS.iter().any(|ending| file.ends_with(&format!(".{ending}")));
    let looks_like_a_path = file.contains(['/', '\\']) || is_file;
    ensure!(!looks_like_a_path, "policy {name}: there is no such file");
    let mut known = vec!["random".to_string()];
    known.extend(demonstrator::of(env).map(|_| demonstrator::NAME.to_string()));
    known.extend(own_policies().iter().filter(|own| own.env == env).map(|own| own.entry.id.to_string()));
    known.extend(
        cards()?.into_iter().filter(|(_, c)| fits(&c.env, env)).flat_map(|(_, c)| [c.algorithm, c.id]),
    );
    let of_bodies = bodies::list()?.into_iter().map(|(name, _)| name);
    known.extend(of_bodies.filter(|name| name.starts_with(&format!("{env}-"))));
    let hint = did_you_mean(name, known.iter().map(String::as_str));
    bail!(
        "environment {env} has no policy called {name:?}{hint}; there are: {}, or the path of a file, or module:name of Python",
        known.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogues;

    fn environment(id: &str) -> Box<dyn Env> {
        catalogues::environments().build(id, &serde_json::json!({})).unwrap()
    }

    #[test]
    fn a_robot_plays_what_was_trained_in_its_simulation_and_not_the_other_way_round() {
        assert!(fits("urm-reach", "urr-reach") && fits("urr-reach", "urr-reach"));
        assert!(!fits("urr-reach", "urm-reach") && !fits("urm-pnp", "urr-reach"));
    }

    #[test]
    fn what_is_shipped_is_known_by_algorithm_and_by_id() {
        assert!(is_shipped("tqc", "sap-goal0").unwrap() && is_shipped("sap-goal0-sac", "sap-goal0").unwrap());
        assert!(is_shipped("tqc", "urr-reach").unwrap() && !is_shipped("random", "sap-goal0").unwrap());
    }

    #[test]
    fn every_shipped_policy_is_lawful_and_is_what_its_card_says() {
        for (bytes, card) in cards().unwrap() {
            assert!(bytes.len() < 3_000_000, "{}: {} bytes", card.id, bytes.len());
            assert_eq!(card.sha256, digest(bytes), "{}", card.id);
            let env = environment(&card.env);
            let found = find(&card.id, env.as_ref()).unwrap();
            assert_eq!(found.name, card.algorithm);
            offnominal_laws::assert_lawful(
                &card.id,
                &offnominal_laws::policy(found.policy.as_ref(), env.spec(), &[]),
            );
        }
    }

    #[test]
    fn the_list_names_the_files_that_are_there() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../agents");
        let mut there: Vec<String> = std::fs::read_dir(folder)
            .unwrap()
            .map(|f| f.unwrap().path())
            .filter(|p| p.extension().is_some_and(|e| e == "safetensors"))
            .map(|p| p.file_stem().unwrap().to_str().unwrap().to_string())
            .collect();
        there.sort();
        let listed: Vec<String> = SHIPPED.iter().map(|(id, ..)| id.to_string()).collect();
        assert_eq!(there, listed);
    }

    #[track_caller]
    fn refuses(name: &str, want: &str) {
        let error = find(name, environment("sap-goal0").as_ref()).err().unwrap();
        assert!(format!("{error:#}").contains(want), "{error:#}");
    }

    #[test]
    fn wrong_names_and_damaged_files_are_explained() {
        refuses("tqcc", "did you mean \"tqc\"?");
        refuses("no/such/file", "there is no such file");
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), b"not a policy").unwrap();
        refuses(file.path().to_str().unwrap(), file.path().to_str().unwrap());
    }

    #[test]
    fn tensors_that_do_not_fit_their_card_are_refused() {
        let (folder, (bytes, card)) = (tempfile::tempdir().unwrap(), cards().unwrap().remove(1));
        let path = folder.path().join("p.safetensors");
        let mut edited = bytes.to_vec();
        *edited.last_mut().unwrap() ^= 1;
        std::fs::write(path.with_extension("json"), serde_json::to_string(&card).unwrap()).unwrap();
        std::fs::write(&path, &edited).unwrap();
        let error = find(path.to_str().unwrap(), environment(&card.env).as_ref()).err().unwrap();
        assert!(format!("{error:#}").contains("was edited"), "{error:#}");
        std::fs::write(&path, bytes).unwrap();
        assert_eq!(find(path.to_str().unwrap(), environment(&card.env).as_ref()).unwrap().card, Some(card));
    }
}
