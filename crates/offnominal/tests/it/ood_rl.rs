//! `bench --suite ood-rl` with a policy of a user's own.

use crate::inside::{train, train_in};
use crate::{fails, offnominal, succeeds};
use offnominal_bench::ood_rl::Row;
use offnominal_files::table;
use std::path::Path;
use std::process::Command;

fn suite(policies: &Path, out: &Path, more: &[&str]) -> Command {
    let mut command = offnominal(&[&["bench", "--suite", "ood-rl"], more].concat(), out);
    command.env("OFFNOMINAL_OOD_RL", policies);
    command
}

/// A folder with a policy that has learned nothing, so that its episodes are short.
fn policies(folder: &Path, option: &str) -> std::path::PathBuf {
    let (trained, there) = (train("1", option, &folder.join(option)), folder.join(format!("of {option}")));
    std::fs::create_dir(&there).unwrap();
    std::fs::copy(trained, there.join("cartpole-dropout-1.safetensors")).unwrap();
    there
}

#[test]
fn a_policy_is_judged_in_every_variant_once_and_alike_on_any_number_of_threads() {
    let folder = tempfile::tempdir().unwrap();
    let (own, at) = (policies(folder.path(), "dropout=0.1"), |name: &str| folder.path().join(name));
    succeeds(&mut suite(&own, &at("one"), &["--jobs", "1"]));
    succeeds(&mut suite(&own, &at("three"), &["--jobs", "3"]));
    let bytes = |out: &str| std::fs::read(at(out).join("results.parquet")).unwrap();
    assert!(bytes("one") == bytes("three"));
    let rows: Vec<Row> = table::read(&at("one").join("results.parquet")).unwrap();
    let of = |is_it: &dyn Fn(&Row) -> bool| rows.iter().filter(|r| r.metric == "return" && is_it(r)).count();
    let detector = |id: &str| of(&|r| r.detector == id);
    assert_eq!((detector("mean-sd"), detector("vote-entropy")), (90 + 5 + 1, 95));
    assert_eq!(of(&|r| r.anomaly == "none"), 1);
    let gravity = of(&|r| r.anomaly == "dyn-gravity");
    assert_eq!(gravity, 19 * 9, "eighteen variants and a control, by nine measures");
    let again = succeeds(&mut suite(&own, &at("one"), &["--json"])).stdout;
    let said: serde_json::Value = serde_json::from_slice(&again).unwrap();
    assert_eq!((&said["cells"], &said["ran"]), (&1.into(), &0.into()));
    let page = at("page.md");
    succeeds(&mut suite(&own, &at("one"), &["--page", page.to_str().unwrap()]));
    let page = std::fs::read_to_string(page).unwrap();
    assert!(page.contains("| cartpole, MC-Dropout | 1 |"), "{page}");
}

#[test]
fn policies_that_cannot_be_used_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let said = fails(&mut suite(folder.path(), &folder.path().join("out"), &[]));
    assert!(said.contains("expected policies such as cartpole-dropout-1.safetensors"), "{said}");
    let plain = policies(folder.path(), "double=true");
    let said = fails(&mut suite(&plain, &folder.path().join("out"), &[]));
    assert!(said.contains("policy cartpole-dropout-1: expected one that disagrees with itself"), "{said}");
    let said = fails(&mut suite(&plain, &folder.path().join("out"), &["--seeds", "2"]));
    assert!(said.contains("it takes --env alone"), "{said}");
    let said = fails(&mut suite(&plain, &folder.path().join("out"), &["--env", "cartpol"]));
    assert!(said.contains("no environment \"cartpol\"; did you mean \"cartpole\"?"), "{said}");
    let mut wrong = offnominal(&["bench", "--suite", "ood-lr"], folder.path());
    assert!(fails(&mut wrong).contains("did you mean \"ood-rl\"?"));
}

#[test]
fn environments_are_run_one_after_the_other_and_the_rest_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let (own, out) = (policies(folder.path(), "dropout=0.1"), folder.path().join("out"));
    let trained = train_in("pendulum", "1", "dropout=0.1", &folder.path().join("pendulum"));
    std::fs::copy(trained, own.join("pendulum-dropout-1.safetensors")).unwrap();
    let run = |env: &str| {
        let said = succeeds(&mut suite(&own, &out, &["--env", env, "--json"])).stdout;
        let said: serde_json::Value = serde_json::from_slice(&said).unwrap();
        (said["ran"].clone(), said["not_run"].clone(), said["rows"].as_u64().unwrap())
    };
    let said = fails(&mut suite(&own, &out, &["--env", "pong"]));
    assert!(said.contains("expected policies such as pong-dropout-1.safetensors, found none"), "{said}");
    let (ran, not_run, rows) = run("cartpole");
    assert_eq!((ran, not_run), (1.into(), serde_json::json!(["pendulum"])));
    let (ran, not_run, all) = run("pendulum");
    assert_eq!((ran, not_run), (1.into(), serde_json::json!([])));
    assert!(all > rows, "the rows of cartpole stay: {all} of {rows}");
}

#[test]
fn an_environment_that_cannot_be_opened_is_left_out_and_named() {
    let folder = tempfile::tempdir().unwrap();
    let (own, out) = (policies(folder.path(), "dropout=0.1"), folder.path().join("out"));
    let one = own.join("cartpole-dropout-1.safetensors");
    std::fs::copy(&one, own.join("ale-pong-dropout-1.safetensors")).unwrap();
    let without_python = |more: &[&str]| {
        let mut command = suite(&own, &out, more);
        command.env("OFFNOMINAL_PYTHON", "no-such-python");
        command
    };
    let said = succeeds(&mut without_python(&["--json"])).stdout;
    let said: serde_json::Value = serde_json::from_slice(&said).unwrap();
    assert_eq!(said["cells"], 1);
    let why = said["left_out"][0].as_str().unwrap();
    assert!(why.starts_with("ale-pong: ") && why.contains("no-such-python"), "{why}");
    std::fs::remove_file(one).unwrap();
    let said = fails(&mut without_python(&[]));
    assert!(said.contains("left out: ale-pong: "), "{said}");
}
