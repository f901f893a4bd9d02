//! An environment of the user's own goes through every command as the built-in ones do: the example is the test's
//! subject.

#[allow(dead_code, reason = "its `main` is not run here")]
#[path = "../../examples/own_env.rs"]
mod example;

use offnominal::cli::main_from;
use offnominal_bench::report;
use offnominal_engine::catalogues;
use offnominal_engine::strengths::{Status, Strength};
use offnominal_files::dataset;
use std::path::Path;

/// Runs a command of the program that the example is.
#[track_caller]
fn runs(command: &str) {
    let args = ["own_env"].into_iter().chain(command.split_whitespace());
    assert_eq!(main_from(args), 0, "{command}");
}

/// What calibration found of an anomaly at the level `strong`.
fn strong(table: &Path, anomaly: &str) -> Strength {
    let mut rows = csv::Reader::from_path(table).unwrap();
    let mut rows = rows.deserialize::<Strength>().map(Result::unwrap);
    rows.find(|r| r.anomaly == anomaly && r.level == "strong").unwrap()
}

fn campaign(leak: f64) -> String {
    format!(
        r#"
        name = "own"
        seed = 2
        envs = ["tank"]
        policies = ["float-valve"]
        detectors = ["clock", "knn"]
        anomalies = [
            {{ id = "obs-offset", magnitude = 0.3, channels = "one" }},
            {{ id = "dyn-leak", magnitude = {leak} }},
        ]
        extent = {{ window = 30 }}
        replicates = 20
        episodes = {{ train = 10, validation = 19, test = 10 }}
        "#
    )
}

#[test]
fn an_environment_of_ones_own_goes_through_every_command() {
    assert!(include_str!("../../examples/own_env.rs").lines().count() <= 60);
    catalogues::extend(example::extras()).unwrap();
    let environment = catalogues::environments().build("tank", &serde_json::json!({})).unwrap();
    offnominal_laws::assert_lawful("tank", &offnominal_laws::env(environment.as_ref(), &[]));

    let folder = tempfile::tempdir().unwrap();
    let out = folder.path();
    let (who, dir) = ("--env tank --policy float-valve", out.display());
    runs(&format!("evaluate {who} --episodes 20 --min-success 0.5 --quiet"));
    runs(&format!(
        "calibrate {who} --anomaly obs-offset,dyn-leak --episodes 100 --budget 1500 --out {dir} --quiet"
    ));
    let table = out.join("tank.csv");
    // The same bias on level and mark leaves their difference, all that the policy looks at, as it is.
    assert_eq!(strong(&table, "obs-offset").status, Status::NoOp);
    let leak = strong(&table, "dyn-leak").magnitude.unwrap();
    runs(&format!("collect {who} --episodes 3 --anomaly dyn-leak --magnitude {leak} --out {dir} --quiet"));
    let file = std::fs::read_dir(out).unwrap().map(|f| f.unwrap().path());
    let file = file.into_iter().find(|p| p.extension().is_some_and(|e| e == "arrow")).unwrap();
    assert_eq!(dataset::load(&file).unwrap().episodes.len(), 6);

    std::fs::write(out.join("own.toml"), campaign(leak)).unwrap();
    runs(&format!("bench {dir}/own.toml --out {dir}/bench --quiet"));
    runs(&format!("report {dir}/bench"));
    let rows = report::read(&out.join("bench")).unwrap().rows;
    let sees = |r: &&offnominal_bench::results::Row| r.detector == "knn" && r.metric == "auroc_matched";
    assert!(rows.iter().filter(sees).any(|r| r.anomaly == "dyn-leak" && r.value > 0.6));
    assert!(out.join("bench/report.html").is_file());
}
