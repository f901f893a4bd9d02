//! Every risk command as a library call, without the command line: requests come as JSON, as other languages send them.

use crate::{estimate, learning, replay, search, select, split};
use offnominal_engine::context::Context;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

fn context() -> Context {
    Context::silent(1, 2)
}

/// A request from its JSON.
fn request<T: clap::Args>(value: Value) -> T {
    offnominal_work::cli::request(&value).unwrap()
}

/// What is shipped with the policy of the driving environment.
fn shipped(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../agents/driving-tqc").join(name)
}

fn read(path: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

#[test]
fn a_risk_is_estimated_and_a_failure_replayed() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let plain = json!({ "env": "driving", "policy": "random", "episodes": 12 });
    let alone = estimate::alone(&request(plain.clone()), &context()).unwrap();
    let mut with_files = plain.clone();
    with_files["out"] = json!(out);
    let report = estimate::alone(&request(with_files), &context()).unwrap();
    assert_eq!((&report.document, alone.page), (&alone.document, None));
    assert_eq!(json!(report), read(&out.join("risk.json")));
    assert!(report.page.as_ref().unwrap().exists() && out.join("timing.json").exists());
    assert!(report.to_string().contains("failures in 12 experiments"), "{report}");
    assert!(report.unacceptable(1.0).is_none() && report.unacceptable(0.0).unwrap().contains("at most 0"));
    let again = replay::Request { run: out, failure: 0, policy: None, size: 16, out: None };
    let found = replay::run(&again, &context()).unwrap();
    assert_eq!(json!(found)["initial"], json!(report.document.failures[0].x));
    assert!(found.files.is_empty() && found.to_string().contains("fails again"));
}

#[test]
fn a_run_stops_where_its_interval_says_so_and_goes_on_from_there() {
    let folder = tempfile::tempdir().unwrap();
    let run = |more: Value, out: &str, jobs: usize| {
        let mut asked = json!({ "env": "cartpole", "policy": "random", "scenario": { "below": 12.0 },
            "episodes": 20_000, "out": folder.path().join(out) });
        asked.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        estimate::alone(&request(asked), &Context { jobs, ..context() }).unwrap().document
    };
    let narrow = run(json!({ "width": 0.06 }), "a", 1);
    let risk = narrow.risk.risk.clone().unwrap();
    assert!(risk.high - risk.low <= 0.06 && narrow.draws < 20_000, "{risk:?}, {}", narrow.draws);
    assert_eq!(risk.method, "beta-binomial-sequence");
    // The same for any number of threads, and where it goes on from a wider one.
    run(json!({ "width": 0.2 }), "b", 2);
    let again = run(json!({ "width": 0.06 }), "b", 2);
    assert_eq!((again.draws, again.risk.risk), (narrow.draws, narrow.risk.risk));
    let gate = run(json!({ "max_risk": risk.high + 0.1, "early_stop": true }), "c", 1);
    assert!(gate.draws < narrow.draws && gate.risk.risk.unwrap().high <= risk.high + 0.1);
}

#[test]
fn wrong_requests_are_refused_by_the_name_of_the_field() {
    let refusal = |name: &str, value: Value| {
        let mut wrong = json!({ "env": "driving", "policy": "random" });
        wrong[name] = value;
        let asked = offnominal_work::cli::request(&wrong);
        format!("{:#}", asked.and_then(|asked| estimate::alone(&asked, &context())).unwrap_err())
    };
    assert_eq!(refusal("episodes", json!(0)), "episodes: expected 1 to 100000000, found 0");
    let found = refusal("exponent", json!(9));
    assert_eq!(found, "exponent: expected a number above 0, at most 4, found 9");
    assert_eq!(refusal("width", json!(2.0)), "width: expected a number above 0 and below 1, found 2");
    assert!(refusal("early_stop", json!(true)).ends_with("--max-risk <P>"));
    assert!(refusal("method", json!("thinned")).starts_with("method thinned: expected a predictor"));
    let both = refusal("scenario", json!({ "below": 5, "stl": "always (speed < 3)" }));
    assert!(both.contains("cannot be used with"), "{both}");
    assert!(refusal("scenario", json!({ "stl": "always (sped < 3)" })).ends_with("did you mean \"speed\"?"));
    let unknown = json!({ "env": "driving", "policy": "random", "experimentz": 1 });
    assert!(offnominal_work::cli::request::<estimate::Request>(&unknown).is_err());
}

#[test]
fn swarms_and_searches_report_what_they_write() {
    let folder = tempfile::tempdir().unwrap();
    let (swarms, searches) = (folder.path().join("split"), folder.path().join("search"));
    let few = json!({ "env": "driving", "policy": "random", "swarms": 4, "particles": 10, "moves": 2,
        "budget": 60, "out": swarms });
    let report = split::run(&request(few), &context()).unwrap();
    assert_eq!(json!(report), read(&swarms.join("split.json")));
    assert!(report.of_each.len() == 4 && report.to_string().contains("experiments in 4 swarms"));
    // Of a policy that hardly ever fails 120 experiments are too few, and what is left is a bound.
    let short = json!({ "env": "driving", "policy": "tqc", "swarms": 4, "particles": 50, "budget": 120 });
    let report = split::run(&request(short), &context()).unwrap();
    assert!(report.unfinished > 0 && report.to_string().contains("failure probability  at most"), "{report}");
    let mut two = json!({ "env": "driving", "policies": ["random"], "strategies": ["random", "elites"],
        "searches": 2, "budget": 3 });
    let alone = search::run(&request(two.clone()), &context()).unwrap();
    two["out"] = json!(searches);
    let report = search::run(&request(two), &context()).unwrap();
    assert_eq!((&report, json!(report)), (&alone, read(&searches.join("search.json"))));
    assert!(searches.join("elites/failures.json").exists());
    assert_eq!(report.strategies[0].acceleration, Some([1.0; 3]));
}

#[test]
fn policies_are_played_and_compared() {
    let policies = ["000075000", "000150000"].map(|n| shipped(&format!("policies/{n}.safetensors")));
    let few = json!({ "env": "driving", "policies": policies, "episodes": 4, "noises": [0.0, 0.5],
        "history_only": true });
    let played = learning::run(&request(few), &context()).unwrap().played.unwrap();
    assert_eq!((played.policies.len(), played.history.episodes.len()), (4, 16));
    assert_eq!(json!(played)["file"], Value::Null);
    let selection = json!({ "env": "driving", "policies": policies, "budget": 8, "round": 4 });
    let report = select::run(&request(selection.clone()), &context()).unwrap();
    assert_eq!((report.method, report.policies.len()), ("plain", 2));
    assert!(report.policies.iter().all(|p| p.experiments == 8), "{report}");
    let mut with_history = selection;
    with_history["history"] = json!(true);
    let error = select::run(&request(with_history), &context()).unwrap_err().to_string();
    assert!(error.contains("history: expected an output folder"), "{error}");
}

#[test]
fn the_folder_of_a_callback_for_checkpoints_becomes_a_history() {
    let folder = tempfile::tempdir().unwrap();
    let models = Path::new(env!("CARGO_MANIFEST_DIR")).join("../offnominal-agents/tests/sb3");
    for (model, steps) in [("sac", 2000), ("td3", 10_000)] {
        let copy =
            |from: String, to: String| std::fs::copy(models.join(from), folder.path().join(to)).unwrap();
        copy(format!("{model}.zip"), format!("rl_model_{steps}_steps.zip"));
        copy(format!("{model}.pkl"), format!("rl_model_vecnormalize_{steps}_steps.pkl"));
    }
    let few = json!({ "env": "pendulum", "policies": [folder.path()], "episodes": 3, "history_only": true,
        "scenario": { "below": -800 } });
    let played = learning::run(&request(few), &context()).unwrap().played.unwrap();
    assert_eq!(played.policies.iter().map(|row| row.step).collect::<Vec<_>>(), [2000, 10_000]);
    assert_eq!(played.history.episodes.len(), 6);
}

#[test]
fn a_predictor_is_learned_from_a_shipped_history() {
    let folder = tempfile::tempdir().unwrap();
    let few = json!({ "env": "driving", "histories": [shipped("history.safetensors")], "form": "mlp",
        "steps": 10, "members": 1, "out": folder.path() });
    let report = learning::run(&request(few), &context()).unwrap();
    assert_eq!(report.learned.as_ref().unwrap().cross_entropy.len(), 3);
    let files: Vec<_> = std::fs::read_dir(folder.path()).unwrap().map(|f| f.unwrap().file_name()).collect();
    assert_eq!(files, ["predictor.safetensors"]);
    assert!(report.to_string().contains("their share of failures"), "{report}");
}

#[test]
fn a_history_that_is_made_on_the_way_gives_the_predictor_that_it_gives_as_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let (whole, steps) = (folder.path().join("whole"), folder.path().join("steps"));
    let policies = ["000525000", "000675000"].map(|n| shipped(&format!("policies/{n}.safetensors")));
    let learned = |more: Value| {
        let mut few = json!({ "env": "driving", "form": "mlp", "steps": 10, "members": 1 });
        few.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        learning::run(&offnominal_work::cli::request(&few)?, &context())
    };
    let played = json!({ "policies": policies, "episodes": 45, "noises": [0.0, 0.4], "out": whole });
    assert!(learned(played.clone()).unwrap().to_string().starts_with("after 525000 steps, noise 0: "));
    let mut only = played;
    (only["history_only"], only["out"]) = (json!(true), json!(steps));
    let only = learned(only);
    assert!(only.unwrap().learned.is_none() && !steps.join("predictor.safetensors").exists());
    learned(json!({ "histories": [steps.join("history.safetensors")], "out": steps })).unwrap();
    for file in ["history.safetensors", "episodes.jsonl", "predictor.safetensors"] {
        let bytes = |folder: &Path| std::fs::read(folder.join(file)).unwrap();
        assert!(bytes(&whole) == bytes(&steps), "{file}");
    }
    let refusal = |more: Value| learned(more).unwrap_err().to_string();
    assert!(refusal(json!({})).contains("--history <FILE>"));
    let history = steps.join("history.safetensors");
    assert!(refusal(json!({ "histories": [history], "history_only": true })).contains("--history-only"));
}
