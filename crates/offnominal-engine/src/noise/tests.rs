//! Levels by name, tables that fit their environments, and what is said of those that do not.

use super::*;
use crate::{catalogues, policies, strengths};
use offnominal_core::noisy::Term;
use offnominal_core::prelude::*;

mod page;

fn built(id: &str) -> Result<Box<dyn Env>, String> {
    catalogues::environment(id, None).map_err(|e| e.to_string())
}

fn episode(id: &str, seed: u64) -> Episode {
    let env = built(id).unwrap();
    let found = policies::find("tqc", env.as_ref()).unwrap();
    Trial { horizon: 40, ..Trial::new(env.as_ref(), found.policy.as_ref()) }.nominal(Seed(seed))
}

#[test]
fn an_id_has_parts() {
    assert_eq!(parts("sap-goal0?noise=datasheet"), ("sap-goal0", Some("datasheet")));
    assert_eq!(parts("sap-goal0?noise=none"), ("sap-goal0", None));
    assert_eq!(parts("gymnasium:CartPole-v1?horizon=9"), ("gymnasium:CartPole-v1?horizon=9", None));
    assert_eq!(base("gymnasium:Own-v0?noise=3"), "gymnasium:Own-v0?noise=3");
    assert_eq!([id("w", None), id("w", Some(NONE)), id("w", Some("rough"))], ["w", "w", "w?noise=rough"]);
    assert_eq!(
        (&*folder("rough"), &*folder("a b/my noise.toml@0123456789ab")),
        ("rough", "my-noise.toml@0123456789ab")
    );
    assert_eq!(file_name("w?noise=rough"), "w-rough");
}

#[test]
fn none_is_the_environment_itself() {
    assert_eq!(built("sap-goal0?noise=none").unwrap().spec(), built("sap-goal0").unwrap().spec());
    assert_eq!(episode("sap-goal0?noise=none", 5), episode("sap-goal0", 5));
}

#[test]
fn every_table_fits_its_environment_and_says_something_of_each_channel() {
    for (level, world, text) in WORLDS {
        let (table, env) = (parse(text).unwrap(), built(world).unwrap());
        let noise = table.resolve(env.spec()).unwrap_or_else(|e| panic!("{level}/{world}: {e:#}"));
        assert!(noise.observation.iter().any(|t| !t.is_none()) && noise.jitter_secs > 0.0);
        let named = table.observation.iter().flat_map(|a| &a.channels);
        let is_named = |name: &str| {
            named.clone().any(|p| p.strip_suffix('*').map_or(p == name, |start| name.starts_with(start)))
        };
        let silent: Vec<&str> =
            env.spec().observation.iter().map(|c| c.name.as_str()).filter(|n| !is_named(n)).collect();
        assert!(silent.is_empty(), "{level}/{world} says nothing of {silent:?}");
    }
}

#[test]
fn rough_is_no_better_than_datasheet() {
    for (_, world, text) in WORLDS.iter().filter(|(level, ..)| *level == "datasheet") {
        let env = built(world).unwrap();
        let of = |text: &str| parse(text).unwrap().resolve(env.spec()).unwrap();
        let rough = WORLDS.iter().find(|(l, w, _)| (*l, w) == ("rough", world)).unwrap().2;
        let (fine, rough) = (of(text), of(rough));
        let size = |t: &Term| t.white + t.proportional + t.quantum + t.turn_on;
        let pairs =
            fine.observation.iter().chain(&fine.action).zip(rough.observation.iter().chain(&rough.action));
        for (i, (fine, rough)) in pairs.enumerate() {
            assert!(size(rough) >= size(fine), "{world}, number {i}: {fine:?}, {rough:?}");
        }
    }
}

#[test]
fn policies_are_those_of_the_environment_without_noise() {
    let found = policies::find("tqc", built("sap-goal0?noise=rough").unwrap().as_ref()).unwrap();
    let plain = policies::find("tqc", built("sap-goal0").unwrap().as_ref()).unwrap();
    assert_eq!((found.name, found.digest), (plain.name, plain.digest));
    assert!(policies::is_shipped("tqc", "sap-goal0?noise=datasheet").unwrap());
    assert_ne!(episode("sap-goal0?noise=datasheet", 5).observations, episode("sap-goal0", 5).observations);
}

#[test]
fn a_strength_of_a_level_is_another_one() {
    let error =
        strengths::lookup("sap-goal0?noise=rough", "tqc", "obs-noise", "tiny", None).unwrap_err().to_string();
    assert!(error.contains("`offnominal calibrate --env \"sap-goal0?noise=rough\" --policy tqc`"), "{error}");
    let file = strengths::file(Path::new("s"), "sap-goal0?noise=rough");
    assert_eq!(file, Path::new("s/rough/sap-goal0.csv"));
}

#[track_caller]
fn refuses(id: &str, want: &str) {
    let error = built(id).err().unwrap();
    assert!(error.contains(want), "{error}");
}

#[test]
fn levels_that_are_not_there_are_named() {
    refuses(
        "sap-goal0?noise=datashet",
        "expected one of datasheet, rough, none or a file, found \"datashet\"; did you mean \"datasheet\"?",
    );
    refuses(
        "cartpole?noise=rough",
        "cartpole has no table of level rough; there are tables for car-lanekeep,",
    );
}

/// A file with a table, and the id of an environment with it.
fn of_text(text: &str) -> (tempfile::NamedTempFile, String) {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), text).unwrap();
    let id = format!("cartpole?noise={}", file.path().display());
    (file, id)
}

const OWN: &str = "[sensors.eye]\nsource = \"made up\"\nwhite = 0.1\n\n[[observation]]\nchannels = [\"x\"]\nsensor = \"eye\"\n";

#[test]
fn a_file_is_known_by_its_digest() {
    let (file, id) = of_text(OWN);
    let full = built(&id).unwrap().spec().id.clone();
    assert!(full.starts_with(&id) && full.len() == id.len() + 1 + DIGITS, "{full}");
    assert_eq!(built(&full).unwrap().spec().id, full);
    std::fs::write(file.path(), OWN.replace("0.1", "0.2")).unwrap();
    refuses(&full, "it was edited");
    assert_ne!(built(&id).unwrap().spec().id, full);
}

#[test]
fn wrong_tables_are_explained() {
    let refuses = |text: &str, want: &str| refuses(&of_text(text).1, want);
    refuses(&OWN.replace("\"x\"", "\"xx\""), "observation: no channel is called \"xx\"; did you mean \"x\"?");
    refuses(
        &OWN.replace("sensor = \"eye\"", "sensor = \"eyes\""),
        "no sensor is called \"eyes\"; did you mean \"eye\"?",
    );
    refuses(&OWN.replace("made up", " "), "eye: expected a source of its figures, found none");
    refuses(&OWN.replace("0.1", "-0.1"), "white: expected a finite number from 0 upwards, found -0.1");
    refuses(&OWN.replace("\"x\"", "\"x\", \"x*\""), "x: expected one sensor, found two");
    refuses(&OWN.replace("white", "with"), "unknown field `with`");
    refuses(&OWN.replace("eye", "lidar"), "sensor \"lidar\": expected a name of its own");
    refuses(&format!("{OWN}scale = 0.0\n"), "eye: scale: expected a finite number above 0, found 0");
    refuses(
        "[[action]]\nchannels = [\"*\"]\nsensor = \"positioner\"\n",
        "expected a channel of real numbers, found a choice",
    );
}

#[test]
fn figures_become_those_of_the_channel() {
    let sensor = Sensor { density: 0.1, quantum: 0.5, ..Sensor::default() };
    let term = Assigned { scale: 2.0, times: 3.0, ..Assigned::default() }.term(&sensor, 0.25).unwrap();
    assert!((term.white - 1.2).abs() < 1e-12 && term.quantum == 3.0);
    // A difference of two readings that are only rounded: q / (√6 dt).
    let sensor = Sensor { quantum: 0.5, ..Sensor::default() };
    let rate = Assigned { by_difference: true, ..Assigned::default() }.term(&sensor, 0.25).unwrap();
    assert!((rate.white - 0.5 / (6.0_f64.sqrt() * 0.25)).abs() < 1e-12 && rate.quantum == 0.0);
}

#[test]
fn noisy_environments_are_lawful() {
    for id in ["sap-goal1?noise=rough", "car-lanekeep?noise=datasheet"] {
        let env = built(id).unwrap();
        let entry = catalogues::environments();
        let exempt = entry.find(base(id)).unwrap().exempt;
        offnominal_laws::assert_lawful(id, &offnominal_laws::env(env.as_ref(), exempt));
    }
}
