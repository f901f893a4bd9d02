//! A run that is cut into replicates, beside counting, on a toy whose risk is known.

use super::{Report, Request, run};
use crate::estimate::atlas::Atlas;
use crate::estimate::document::{self, Document};
use crate::estimate::ending::Ending;
use crate::estimate::estimation::Estimation;
use crate::experimenter::Experimenter;
use crate::forks;
use crate::request::write_json;
use crate::testing::{Toy, context, guide, subject};
use offnominal_core::spec::EnvSpec;
use offnominal_stats::Level;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// A long run with seed 5, with or without a predictor, and plain episodes with seed 6.
fn runs(folder: &Path, is_guided: bool) {
    let toy = Toy::new(0.05);
    let subject = subject(&toy);
    let guide = is_guided.then(|| guide(&toy, &subject, folder));
    let (long, truth) = (folder.join("long"), folder.join("truth"));
    let request = json!({ "env": "toy", "policy": "still", "episodes": 8000, "rate": 0.2, "out": long });
    let request: forks::Request = serde_json::from_value(request).unwrap();
    let by = Experimenter::new(&subject, 5).unwrap();
    let report = forks::estimate(&request, by, (None, guide.as_ref()), &context(2)).unwrap();
    write_json(Some(&long), forks::FILE, &report).unwrap();
    estimated(Estimation::plain(Experimenter::new(&subject, 6).unwrap()), 20_000, &truth);
}

/// A run of so many experiments, whose result is in the folder.
fn estimated(estimation: Estimation<'_>, experiments: u64, out: &Path) {
    let blocks = estimation.run(None, experiments, &Ending::NONE, &context(2)).unwrap();
    let verdict = estimation.judge(&blocks, Level::P95, &context(2)).unwrap();
    let atlas = Atlas::of(&verdict.failures, &toy_spec());
    write_json(Some(out), document::FILE, &Document::new(&estimation.spec, &verdict, atlas)).unwrap();
}

fn toy_spec() -> EnvSpec {
    subject(&Toy::new(0.5)).env.spec().clone()
}

fn judged(folder: &Path, more: Value) -> anyhow::Result<Report> {
    let mut request =
        json!({ "runs": [folder.join("long")], "truth": folder.join("truth"), "replicates": 40 });
    request.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let request: Request = serde_json::from_value(request).unwrap();
    run(&request, &context(1))
}

#[test]
fn counting_gains_nothing_and_a_predictor_gains() {
    let folder = tempfile::tempdir().unwrap();
    runs(folder.path(), false);
    let plain = judged(folder.path(), json!({})).unwrap();
    assert!(plain.gain.covers(1.0) && plain.method == "plain draws", "{plain}");
    assert!(plain.covered.value > 0.9 && (plain.mean - plain.truth.value).abs() < 0.01, "{plain}");
    // Every failure has the same weight.
    assert!((plain.spread.share_of_estimate - 0.5).abs() < 0.01, "{plain}");
    let point = &plain.curves[0].points[0];
    assert!(point.off.covers(point.counting), "{point:?}");
    let folder = tempfile::tempdir().unwrap();
    runs(folder.path(), true);
    let guided = judged(folder.path(), json!({ "factors": [1.5, 3.0] })).unwrap();
    assert!(guided.gain.low > 1.0 && guided.curves.len() == 2, "{guided}");
    assert!(guided.covered.value > 0.9, "{guided}");
}

#[test]
fn result_and_page_are_written_and_say_the_same() {
    let folder = tempfile::tempdir().unwrap();
    runs(folder.path(), false);
    let out = folder.path().join("out");
    let report = judged(folder.path(), json!({ "out": out })).unwrap();
    let written: Value =
        serde_json::from_slice(&std::fs::read(out.join("replicates.json")).unwrap()).unwrap();
    assert_eq!(written["gain"]["value"], json!(report.gain.value));
    let page = std::fs::read_to_string(out.join("replicates.html")).unwrap();
    assert!(page.contains(&format!("<b>{:.2}</b>", report.gain.value)) && page.contains("plain counting"));
}

#[test]
fn what_does_not_belong_together_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    runs(folder.path(), false);
    let refused = |more: Value, want: &str| {
        let error = format!("{:#}", judged(folder.path(), more).unwrap_err());
        assert!(error.contains(want), "{error}");
    };
    refused(json!({ "replicates": 19 }), "replicates: expected 20 to 100000, found 19");
    refused(json!({ "replicates": 200 }), "expected at least 200 blocks of roots");
    refused(json!({ "factors": [] }), "factors: expected at least one, found none");
    refused(json!({ "factors": [1.001] }), "factor: expected at least 1.01, found 1.001");
    refused(json!({ "runs": [folder.path().join("truth")] }), "fork.json");
    refused(json!({ "runs": [folder.path(), folder.path()] }), "runs: expected one or at least 20, found 2");
    let truth = folder.path().join("truth").join(document::FILE);
    let with = |edit: fn(&mut Value), want: &str| {
        let before = std::fs::read(&truth).unwrap();
        let mut document: Value = serde_json::from_slice(&before).unwrap();
        edit(&mut document);
        std::fs::write(&truth, document.to_string()).unwrap();
        refused(json!({}), want);
        std::fs::write(&truth, before).unwrap();
    };
    with(
        |d| d["run"]["seed"] = json!(5),
        "truth: expected another seed than 5, that of the run, found the same",
    );
    with(
        |d| d["run"]["env"] = json!("other"),
        "truth: expected environment toy, that of the run, found other",
    );
    with(|d| d["run"]["policy"]["digest"] = json!("ab"), "truth: expected the policy with digest");
    let journal = folder.path().join("long").join("roots.jsonl");
    let text = std::fs::read_to_string(&journal).unwrap();
    let shorter: Vec<&str> = text.lines().take(40).collect();
    std::fs::write(&journal, shorter.join("\n") + "\n").unwrap();
    refused(json!({}), "blocks of the finished run, each once, found 39");
}

#[test]
fn adaptive_runs_of_many_seeds_are_replicates_and_gain() {
    if !skips::is_slow_tier("24 runs that learn while they go on") {
        return;
    }
    let (toy, folder) = (Toy::new(0.5), tempfile::tempdir().unwrap());
    let (subject, truth) = (subject(&toy), folder.path().join("truth"));
    estimated(Estimation::plain(Experimenter::new(&subject, 6).unwrap()), 20_000, &truth);
    let mut found = Vec::new();
    for seed in 10..34 {
        let by = Experimenter::new(&subject, seed).unwrap();
        let out = folder.path().join(seed.to_string());
        estimated(Estimation::adaptive(by, None, 0.1, 0.1).unwrap(), 6000, &out);
        found.push(out);
    }
    let judged = |runs: &[PathBuf]| {
        let request: Request = serde_json::from_value(json!({ "runs": runs, "truth": truth })).unwrap();
        run(&request, &context(1))
    };
    let report = judged(&found).unwrap();
    assert!(report.gain.value > 2.0 && report.gain.low > 1.0, "{report}");
    assert!((report.mean - toy.p()).abs() < 4.0 * report.standard_error, "{report}");
    assert!(report.covered.value > 0.9 && report.curves[0].points.len() == 1, "{report}");
    let twice: Vec<PathBuf> = found.iter().cloned().chain([found[0].clone()]).collect();
    let error = format!("{:#}", judged(&twice).unwrap_err());
    assert!(error.contains("expected a seed that no other run has, found 10 again"), "{error}");
}
