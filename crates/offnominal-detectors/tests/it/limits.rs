//! No number in a recipe takes memory or time without end: whatever it is, it is refused or the detector is fitted, and
//! its scores are finite.

use crate::quick::quick;
use offnominal_core::prelude::*;
use offnominal_detectors::{ALL, defaults};
use offnominal_laws::{MockEnsemble, nominal_episodes};
use serde_json::{Value, json};

/// Numbers at the edges, and what stands for one that is none.
fn edges() -> Vec<Value> {
    let floats = [0.0, -1.0, 0.5, 1e-308, 1e308, -1e308].map(|x| json!(x));
    let counts = [0, 1, 3, 1_000_000_000, 1 << 63, u64::MAX].map(|n: u64| json!(n));
    floats.into_iter().chain(counts).chain([Value::Null]).collect()
}

/// Lists at the edges.
fn lists() -> Vec<Value> {
    let long = vec![1; 10_000];
    vec![json!([]), json!([0]), json!([100_000_000, 100_000_000]), json!([16_384, 16_384]), json!(long)]
}

/// Every way to replace one number or list of numbers in a recipe, as a path of keys and the values for it.
fn places(recipe: &Value, path: &[String], all: &mut Vec<(Vec<String>, Vec<Value>)>) {
    match recipe {
        Value::Object(map) => {
            for (key, inner) in map {
                places(inner, &[path, std::slice::from_ref(key)].concat(), all);
            }
        }
        Value::Array(list) if list.iter().all(Value::is_number) => all.push((path.to_vec(), lists())),
        // What is not given by default is a count here.
        Value::Number(_) | Value::Null => all.push((path.to_vec(), edges())),
        _ => {}
    }
}

/// The recipe that is fitted in a moment, with one value replaced.
fn replaced(id: &str, path: &[String], value: &Value) -> Value {
    let mut recipe = quick(id);
    let mut at = &mut recipe;
    for key in path {
        at = &mut at[key.as_str()];
    }
    *at = value.clone();
    recipe
}

/// Fits and scores; says what went wrong.
fn tried(entry: &Entry<dyn Detector>, recipe: &Value) -> Result<(), String> {
    let Ok(detector) = (entry.build)(recipe) else { return Ok(()) };
    let episodes = nominal_episodes(Seed(1), 6, 20);
    let views: Vec<_> = episodes.iter().map(|e| e.signals()).collect();
    let (policy, mut finite) = (MockEnsemble::passes(3), true);
    let used = allocation_counter::measure(|| {
        let fitted =
            detector.fit(Nominal::new(&views[..4], &views[4..]).with_policy(&policy), &mut Rng::new(1));
        let scores = fitted.map(|mut monitor| monitor.score_episodes(&views));
        finite = scores.iter().flatten().flatten().all(|score| score.is_finite());
    });
    if !finite {
        return Err("a score is not finite".into());
    }
    if used.bytes_max > 1 << 30 { Err(format!("{} bytes", used.bytes_max)) } else { Ok(()) }
}

#[test]
fn every_number_of_every_recipe_is_refused_or_bounded() {
    let (mut n, mut broken) = (0, Vec::new());
    for (entry, defaults) in ALL.iter().zip(defaults()) {
        let mut all = Vec::new();
        places(&defaults, &[], &mut all);
        for (path, values) in all {
            for value in values {
                let recipe = replaced(entry.id, &path, &value);
                let why = tried(entry, &recipe).err();
                broken.extend(why.map(|why| format!("{} {} = {value}: {why}", entry.id, path.join("."))));
                n += 1;
            }
        }
    }
    assert!(n > 500, "only {n} recipes were tried");
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}
