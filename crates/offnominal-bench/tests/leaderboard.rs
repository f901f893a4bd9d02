//! What a submission must be, each rule with one that breaks it.

use anyhow::Result;
use offnominal_bench::leaderboard::{About, Added, Submit, add, digests, load, page};
use offnominal_bench::suite::{Environment, Row, Suite};
use offnominal_files::provenance::Provenance;
use offnominal_files::{table, write};
use std::path::{Path, PathBuf};
use tempfile::TempDir;

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn row(detector: &str, anomaly: &str, metric: &str, value: f64) -> Row {
    let class = if anomaly.starts_with("obs") { "observation" } else { "action" };
    let threshold = if metric == "d20" { "conformal" } else { "" };
    Row {
        env: "sap-goal0".into(),
        modality: "vector".into(),
        policy: "tqc".into(),
        anomaly_class: class.into(),
        anomaly: anomaly.into(),
        strength: "tiny".into(),
        magnitude: 0.25,
        detector: detector.into(),
        seeds: 1,
        episodes: 50,
        metric: metric.into(),
        threshold: threshold.into(),
        value,
        low: (value - 0.1).max(0.0),
        high: (value + 0.1).min(1.0),
    }
}

fn rows() -> Vec<Row> {
    let of = |detector: &'static str, auroc: f64| {
        ["obs-noise", "act-noise"].into_iter().flat_map(move |anomaly| {
            [row(detector, anomaly, "auroc_matched", auroc), row(detector, anomaly, "d20", 0.5)]
        })
    };
    of("clock", 0.5).chain(of("knn", 0.8)).collect()
}

fn environment() -> Environment {
    let made = Provenance {
        command: "offnominal bench --suite vector --env sap-goal0 --seeds 1".into(),
        engine: "0.1.0".into(),
        seed: Suite::find("vector").unwrap().campaigns(None).unwrap()[0].0.seed,
        ..Provenance::default()
    };
    Environment {
        env: "sap-goal0".into(),
        digest: "0".repeat(32),
        made,
        policies: vec![],
        seeds: 1,
        missing: vec![],
        detectors: vec!["clock".into(), "knn".into()],
        last_call: (1.0, 1),
        coverage: vec![],
        diagnoses: vec![],
        hardware: String::new(),
        scores: vec![],
    }
}

/// A folder with results, and one with their submission.
fn submitted(environment: &Environment, rows: &[Row]) -> (TempDir, Result<Added>) {
    let folder = tempfile::tempdir().unwrap();
    let results = folder.path().join("results");
    std::fs::create_dir(&results).unwrap();
    environment.save(&results, rows, "").unwrap();
    let added = add(&Submit {
        results,
        suite: "vector".into(),
        name: "mine".into(),
        by: "Somebody".into(),
        date: "2026-01-31".into(),
        about: "A detector".into(),
        code: "https://example.org".into(),
        submissions: folder.path().join("submissions"),
    });
    (folder, added)
}

fn refusal(environment: &Environment, rows: &[Row]) -> String {
    let (folder, added) = submitted(environment, rows);
    assert!(!folder.path().join("submissions/mine").exists(), "nothing is half-made");
    format!("{:#}", added.unwrap_err())
}

#[test]
fn a_sound_submission_is_added_read_and_ranked() {
    let (folder, added) = submitted(&environment(), &rows());
    assert_eq!(added.unwrap().environments, ["sap-goal0"]);
    let found = load(&folder.path().join("submissions")).unwrap();
    let page = page(&found).unwrap();
    let place = |text: &str| page.find(text).unwrap_or_else(|| panic!("{text} is missing in {page}"));
    assert!(
        place("| 1 | `knn` | mine | 1 of 10 | 0.800 [") < place("| 2 | `clock` | mine | 1 of 10 | 0.500 [")
    );
    assert!(
        page.contains("| mine | Somebody | 2026-01-31 | 0.1.0 | A detector | https://example.org |"),
        "{page}"
    );
}

#[test]
fn a_wrong_number_is_named_with_file_row_and_column() {
    let changed = |change: fn(&mut Row)| {
        let mut rows = rows();
        change(&mut rows[5]);
        refusal(&environment(), &rows)
    };
    type Case = (fn(&mut Row), &'static str);
    let cases: [Case; 8] = [
        (|r| r.value = 1.5, "row 6: value: expected 0 to 1, found 1.5"),
        (|r| r.low = 0.9, "row 6: low, high: expected an interval around 0.5, found 0.9 to"),
        (|r| r.env = "sap-goal1".into(), "row 6: env: expected \"sap-goal0\", found \"sap-goal1\""),
        (|r| r.metric = "d21".into(), "row 6: metric: expected one of"),
        (|r| r.detector = "knm".into(), "found \"knm\"; did you mean \"knn\"?"),
        (|r| r.seeds = 9, "row 6: seeds: expected 1..=1, found 9"),
        (|r| r.modality = "image".into(), "row 6: modality: expected \"vector\""),
        (|r| r.strength = "weak".into(), "row 6: strength: expected one of tiny, medium"),
    ];
    for (change, expected) in cases {
        let message = changed(change);
        assert!(message.contains(expected) && message.contains("sap-goal0.parquet"), "{expected}: {message}");
    }
}

#[test]
fn a_table_that_leaves_out_repeats_or_cheats_is_refused() {
    let missing = refusal(&environment(), &rows()[..7]);
    assert!(missing.contains("\"d20\"") && missing.contains("of detector knn with policy tqc"), "{missing}");
    let twice = [rows(), rows()[..1].to_vec()].concat();
    assert!(refusal(&environment(), &twice).contains("row 9: expected"), "a row is there twice");
    let mut cheats = rows();
    (cheats[0].value, cheats[0].high) = (0.6, 0.7);
    let message = refusal(&environment(), &cheats);
    assert!(
        message.contains("row 1: value: expected 0.5 of detector clock, which sees nothing, found 0.6"),
        "{message}"
    );
}

#[test]
fn other_provenance_is_refused() {
    let changed = |change: fn(&mut Environment)| {
        let mut environment = environment();
        change(&mut environment);
        refusal(&environment, &rows())
    };
    type Case = (fn(&mut Environment), &'static str);
    let cases: [Case; 5] = [
        (|e| e.made.command = "by hand".into(), "made.command: expected one that begins with"),
        (|e| e.made.engine = String::new(), "made.engine: expected a version such as 0.1.0, found \"\""),
        (|e| e.made.seed = 1, "made.seed: expected that of suite vector"),
        (|e| e.digest = "x".into(), "digest: expected 32 hexadecimal digits, found \"x\""),
        (|e| e.detectors.push("<b>".into()), "detectors: expected plain names"),
    ];
    for (change, expected) in cases {
        let message = changed(change);
        assert!(message.contains(expected) && message.contains("sap-goal0.json"), "{expected}: {message}");
    }
}

#[test]
fn a_file_that_was_edited_added_or_removed_is_noticed() {
    let (folder, _) = submitted(&environment(), &rows());
    let (submissions, own) = (folder.path().join("submissions"), folder.path().join("submissions/mine"));
    let refused = || format!("{:#}", load(&submissions).unwrap_err());
    std::fs::write(own.join("sap-goal1.csv"), "").unwrap();
    assert!(
        refused().contains("expected the digest of") && refused().contains("sap-goal1.csv"),
        "{}",
        refused()
    );
    std::fs::remove_file(own.join("sap-goal1.csv")).unwrap();
    let better: Vec<Row> = rows().into_iter().map(|r| Row { low: 0.0, high: 1.0, ..r }).collect();
    write::atomically(&own.join("sap-goal0.parquet"), &table::to_parquet(&better).unwrap()).unwrap();
    assert!(refused().contains("sap-goal0.parquet: expected SHA-256"), "{}", refused());
    std::fs::remove_file(own.join("sap-goal0.parquet")).unwrap();
    assert!(refused().contains("expected the file sap-goal0.parquet"), "{}", refused());
}

#[test]
fn what_stands_on_the_page_is_plain_text() {
    let (folder, _) = submitted(&environment(), &rows());
    let path = folder.path().join("submissions/mine/about.toml");
    let text = std::fs::read_to_string(&path).unwrap();
    let refused = |from: &str, to: &str| {
        assert!(text.contains(from), "{text}");
        std::fs::write(&path, text.replace(from, to)).unwrap();
        format!("{:#}", load(&folder.path().join("submissions")).unwrap_err())
    };
    assert!(refused("Somebody", "<script>").contains("by: expected plain text, found '<'"));
    assert!(refused("2026-01-31", "tomorrow").contains("date: expected YYYY-MM-DD, found \"tomorrow\""));
    assert!(refused("code = ", "cod = ").contains("about.toml"));
    assert!(refused("suite = \"vector\"", "suite = \"vecto\"").contains("did you mean \"vector\"?"));
}

/// States the digests of our own results anew.
fn sealed(folder: &Path) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let folder = entry.unwrap().path();
        let about = About::load(&folder).unwrap();
        if about.results.is_some() {
            let files = digests(&about.results(&folder)).unwrap();
            let text = toml::to_string(&About { files, ..about }).unwrap();
            std::fs::write(folder.join("about.toml"), text).unwrap();
        }
    }
}

#[test]
fn the_page_says_what_the_submissions_say() {
    let (submissions, shown) =
        (repository().join("leaderboard/submissions"), repository().join("docs/leaderboard.md"));
    let is_updated = std::env::var_os("UPDATE_EXPECT").is_some();
    if is_updated {
        sealed(&submissions);
    }
    let text = page(&load(&submissions).unwrap()).unwrap();
    if is_updated {
        std::fs::write(&shown, &text).unwrap();
    }
    let is_new = std::fs::read_to_string(&shown).unwrap_or_default() == text;
    assert!(is_new, "{} is old; UPDATE_EXPECT=1 writes it", shown.display());
}
