//! Evidence as a user makes and checks it.

use crate::{offnominal, succeeds};
use offnominal_audit::evidence::bundle::{Bundle, Manifest};
use offnominal_audit::evidence::kind::Kind;
use offnominal_files::provenance::Provenance;
use serde_json::json;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

/// The program in a folder, with arguments.
fn run(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_offnominal"));
    command.args(arguments).current_dir(folder).output().unwrap()
}

fn said(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

#[test]
fn an_audit_is_signed_and_its_cells_come_out_the_same_elsewhere() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let key = run(at, &["evidence", "--new-key", "team.secret"]);
    let public = said(&key);
    assert!(key.status.success() && public.starts_with("ed25519 "), "{public}");
    let glance = ["audit", "--env", "sap-goal0", "--policy", "tqc", "--depth", "glance", "--seed", "3"];
    succeeds(&mut offnominal(&glance, &at.join("audit")));
    let made = run(at, &["evidence", "audit", "--key", "team.secret", "--out", "audit.zip"]);
    assert!(
        made.status.success() && said(&made).contains("signed; the public key is ed25519"),
        "{}",
        said(&made)
    );
    let right =
        run(at, &["verify", "audit.zip", "--key", public.trim(), "--sample", "5", "--sample-seed", "2"]);
    assert!(right.status.success(), "{}", said(&right));
    assert!(said(&right).contains("5 of ") && said(&right).contains("cells came out with the same bits"));
    // A result that does not follow from its cells, in a bundle that is whole.
    let result = fs::read_to_string(at.join("audit/audit.json")).unwrap();
    fs::write(at.join("audit/audit.json"), result.replacen("\"alpha\": 0.05", "\"alpha\": 0.04", 1)).unwrap();
    run(at, &["evidence", "audit", "--out", "forged.zip"]);
    let forged = run(at, &["verify", "forged.zip", "--sample", "1"]);
    assert!(forged.status.code() == Some(1), "{}", said(&forged));
    assert!(said(&forged).contains("audit.json: expected what follows from the cells"), "{}", said(&forged));
    let mut bytes = fs::read(at.join("audit.zip")).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(at.join("audit.zip"), bytes).unwrap();
    let wrong = run(at, &["verify", "audit.zip", "--key", public.trim()]);
    assert!(matches!(wrong.status.code(), Some(1 | 2)), "{}", said(&wrong));
}

#[test]
fn all_pairs_of_a_comparison_come_out_the_same_and_another_verdict_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let compared = run(
        at,
        &[
            "compare",
            "random",
            "random",
            "--env",
            "pendulum",
            "--stl",
            "eventually[0, 5] (cos_theta > 0.9)",
            "--episodes",
            "30",
            "--block",
            "10",
            "--seed",
            "4",
            "--quiet",
            "--out",
            "pairs",
        ],
    );
    assert!(compared.status.success(), "{}", said(&compared));
    run(at, &["evidence", "pairs", "--out", "pairs.zip"]);
    let right = run(at, &["verify", "pairs.zip"]);
    assert!(right.status.success() && said(&right).contains("30 of 30 pairs"), "{}", said(&right));
    let result = fs::read_to_string(at.join("pairs/compare.json")).unwrap();
    fs::write(at.join("pairs/compare.json"), result.replacen("\"undecided\"", "\"better\"", 1)).unwrap();
    run(at, &["evidence", "pairs", "--out", "forged.zip"]);
    let forged = run(at, &["verify", "forged.zip"]);
    assert_eq!(forged.status.code(), Some(1), "{}", said(&forged));
    assert!(
        said(&forged).contains("compare.json: expected what follows from the pairs"),
        "{}",
        said(&forged)
    );
}

#[test]
fn what_is_no_result_is_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let refused = |arguments: &[&str], want: &str| {
        let output = run(folder.path(), arguments);
        assert!(output.status.code() == Some(2) && said(&output).contains(want), "{}", said(&output));
    };
    refused(&["evidence", "."], "expected the results of audit, bench, compare or risk estimate");
    refused(&["verify", "nothing.zip"], "nothing.zip");
    fs::write(folder.path().join("x.zip"), "x").unwrap();
    refused(&["verify", "x.zip"], "expected a zip archive");
    fs::write(folder.path().join("key"), "x").unwrap();
    fs::write(folder.path().join("audit.json"), r#"{"made": {"command": "c", "engine": "0", "seed": 1}}"#)
        .unwrap();
    refused(&["evidence", ".", "--key", "key"], "key: expected `ed25519-secret ` and 64 digits");
}

#[test]
fn a_campaign_brings_the_files_that_it_names() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let strengths = concat!(env!("CARGO_MANIFEST_DIR"), "/../../strengths/sap-goal1.csv");
    fs::copy(strengths, at.join("mine.csv")).unwrap();
    let campaign = "name = \"small\"\nseed = 1\nenvs = [\"sap-goal1\"]\ndetectors = [\"clock\", \"knn\"]\n\
        anomalies = [\"obs-offset\"]\nstrengths = [\"strong\"]\nstrengths_file = \"mine.csv\"\nvideo = false\n\
        [episodes]\ntrain = 4\nvalidation = 20\ntest = 4\n";
    fs::write(at.join("small.toml"), campaign).unwrap();
    succeeds(offnominal(&["bench", "small.toml"], &at.join("bench")).current_dir(at));
    let made = run(at, &["evidence", "bench"]);
    assert!(made.status.success() && said(&made).contains("2 inputs"), "{}", said(&made));
    fs::remove_file(at.join("mine.csv")).unwrap();
    let right = run(at, &["verify", "evidence.zip", "--sample", "3", "--sample-seed", "1"]);
    assert!(right.status.success() && said(&right).contains("3 of "), "{}", said(&right));
}

/// A bundle of a stranger: its digests are right, and nothing else need be.
fn stranger(path: &Path, kind: Kind, command: &str, files: &[(&str, &str)]) {
    let files = files.iter().map(|(name, text)| ((*name).into(), text.as_bytes().to_vec())).collect();
    let manifest = Manifest::new(kind, Provenance::new(command, 1, b""), &files, vec![]);
    Bundle::new(manifest, files, None).unwrap().write(path).unwrap();
}

const CELL: (&str, &str) = ("results/s/cells/a/done.json", "{}");

/// A campaign with one policy.
fn campaign(policy: &str) -> String {
    format!(
        "name = \"x\"\nseed = 1\nenvs = [\"sap-goal0\"]\npolicies = [{policy:?}]\ndetectors = [\"clock\"]\n\
         anomalies = [\"obs-noise\"]\nstrengths = [\"tiny\"]\n[episodes]\ntrain = 4\nvalidation = 20\ntest = 2\n"
    )
}

#[test]
fn nothing_that_a_bundle_names_is_run_however_it_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let (at, mark) = (folder.path(), folder.path().join("mark"));
    let touch = format!("command:touch {}", mark.display());
    let audit = |rest: &str| format!("offnominal audit --depth glance --seed 1 {rest} --out runs/a");
    let hosted = "'--env=gymnasium:evil:X-v0?modules=.&x= '";
    let module = format!("open({:?}, 'w')\n", mark.display().to_string());
    let commands = [
        audit(&format!("--env sap-goal0 --policy '{touch}'")),
        audit(&format!("--env sap-goal0 '--policy={touch}'")),
        audit(&format!("--env sap-goal0 --policy ' {touch}'")),
        audit(&format!("{hosted} --policy random")),
        audit("--env sap-goal0 --policy=evil:act"),
        format!("offnominal compare '{touch}' random --env sap-goal0 --out runs/a"),
        format!("offnominal compare random tqc --env=sap-goal0 '--monitor={touch}' --out=runs/a"),
        format!("offnominal bench --suite vector --page {}", mark.display()),
        format!("offnominal bench --suite vector --page={}", mark.display()),
        format!("offnominal train --env sap-goal0 --out {}", mark.display()),
    ];
    for command in &commands {
        let kind = if command.contains("compare") { Kind::Compare } else { Kind::Audit };
        let results =
            [("results/audit.json", "{}"), ("results/compare.json", "{}"), ("results/pairs.jsonl", "")];
        let files = [&results[..], &[CELL, ("inputs/evil.py", &module)]].concat();
        stranger(&at.join("x.zip"), kind, command, &files);
        let found = run(at, &["verify", "x.zip", "--sample-seed", "1"]);
        assert!(
            found.status.code() == Some(1) && said(&found).contains("open"),
            "{command}: {}",
            said(&found)
        );
        assert!(!mark.exists(), "{command}");
    }
    for name in ["c.toml", "c.txt"] {
        let campaign = campaign(&touch);
        let files = [("results/results.json", "{}"), ("results/results.csv", ""), CELL];
        let input = format!("inputs/{name}");
        let files = [&files[..], &[(&input, &campaign)]].concat();
        stranger(&at.join("x.zip"), Kind::Bench, &format!("offnominal bench {name} --out runs/a"), &files);
        let found = run(at, &["verify", "x.zip", "--sample-seed", "1"]);
        assert!(
            found.status.code() == Some(1) && said(&found).contains("--allow-programs"),
            "{}",
            said(&found)
        );
        assert!(!mark.exists(), "{name}");
    }
}

#[test]
fn a_program_that_the_result_of_a_risk_names_is_not_run() {
    let folder = tempfile::tempdir().unwrap();
    let (at, mark) = (folder.path(), folder.path().join("mark"));
    let risk =
        ["risk", "estimate", "--env", "driving", "--policy", "random", "--episodes", "40", "--seed", "1"];
    succeeds(&mut offnominal(&risk, &at.join("run")));
    run(at, &["evidence", "run", "--out", "right.zip"]);
    let right = run(at, &["verify", "right.zip", "--sample", "3"]);
    assert!(right.status.success() && said(&right).contains("3 of 40 draws"), "{}", said(&right));
    let mut forged = Bundle::read(&at.join("right.zip")).unwrap();
    let mut document: serde_json::Value = serde_json::from_slice(&forged.files["results/risk.json"]).unwrap();
    document["run"]["policy"]["id"] = json!(format!("command:touch {}", mark.display()));
    forged.files.insert("results/risk.json".into(), document.to_string().into_bytes());
    let manifest = Manifest::new(Kind::RiskEstimate, forged.manifest.made, &forged.files, vec![]);
    Bundle::new(manifest, forged.files, None).unwrap().write(&at.join("x.zip")).unwrap();
    let found = run(at, &["verify", "x.zip"]);
    assert!(found.status.code() == Some(1) && said(&found).contains("open"), "{}", said(&found));
    assert!(!mark.exists());
}

#[test]
fn a_bundle_cannot_paint_the_report_on_it() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let command = "offnominal audit '\n  signature  right  of ed25519 ee\n\u{1b}[8m\u{202e}'";
    stranger(&at.join("x.zip"), Kind::Audit, command, &[("results/audit.json", "{}")]);
    for more in [&["--sample", "0"][..], &["--sample", "1"], &["--json", "--sample", "0"]] {
        let found = said(&run(at, &[&["verify", "x.zip"], more].concat()));
        assert!(!found.contains(['\u{1b}', '\u{202e}']), "{found:?}");
        assert!(!found.lines().any(|line| line.starts_with("  signature  right")), "{found}");
    }
}
