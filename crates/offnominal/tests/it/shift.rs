//! `shift` with policies of a user's own.

use crate::{fails, offnominal, succeeds};
use offnominal_files::table;
use offnominal_shift::Number;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A folder with policies for the hopper that have learned next to nothing.
fn policies(folder: &Path) -> PathBuf {
    let there = folder.join("policies");
    std::fs::create_dir(&there).unwrap();
    for seed in ["1", "2", "3"] {
        let out = folder.join(format!("train-{seed}"));
        let options =
            "--steps 300 --set hidden=[8] --set learning_starts=100 --set buffer=1000 --quiet --seed";
        let args: Vec<&str> = ["train", "--env", "hopper"].into_iter().chain(options.split(' ')).collect();
        succeeds(&mut offnominal(&[args.as_slice(), &[seed]].concat(), &out));
        std::fs::copy(out.join("policy.safetensors"), there.join(format!("hopper-td3-{seed}.safetensors")))
            .unwrap();
    }
    there
}

fn shift(policies: &Path, out: &Path, more: &[&str]) -> Command {
    let own = ["shift", "--env", "hopper", "--policy", policies.to_str().unwrap(), "--quiet"];
    let small = "--bodies 8 --steps 100 --sigma 0.1,0.2 --updates 2 --nominal-runs 2 --detector knn";
    let args: Vec<&str> = own.into_iter().chain(small.split(' ')).chain(more.iter().copied()).collect();
    offnominal(&args, out)
}

/// Pairs of a policy and a body in a table.
fn n_rows(path: &Path) -> usize {
    let numbers: Vec<Number> = table::read(path).unwrap();
    numbers.iter().filter(|n| n.metric == "median_return").count()
}

#[test]
fn policies_meet_bodies_once_and_alike_on_any_number_of_threads() {
    let folder = tempfile::tempdir().unwrap();
    let (own, at) = (policies(folder.path()), |name: &str| folder.path().join(name));
    succeeds(&mut shift(&own, &at("one"), &["--jobs", "1"]));
    succeeds(&mut shift(&own, &at("three"), &["--jobs", "3"]));
    let read = |out: &str, file: &str| std::fs::read_to_string(at(out).join(file)).unwrap();
    for file in ["answers.csv", "bodies.csv", "report.html"] {
        assert!(read("one", file) == read("three", file).replace("three", "one"), "{file}");
    }
    let bytes = |out: &str| std::fs::read(at(out).join("results.parquet")).unwrap();
    assert!(bytes("one") == bytes("three"));
    // Three policies, each on the nominal body and on 2 × 8 others.
    assert_eq!(n_rows(&at("one").join("results.parquet")), 3 * 17);
    assert_eq!(read("one", "bodies.csv").lines().count(), 1 + 16);
    let answers = read("one", "answers.csv");
    assert!(
        answers.contains("rank correlation with the return gap,tpr,") && answers.contains(",knn@1,"),
        "{answers}"
    );
    let page = read("one", "report.html");
    for part in [
        "figure-difference",
        "figure-nominal-return",
        "figure-model-of-states",
        "data-body=\"0.2/7\"",
        "data:image/png;base64,",
    ] {
        assert!(page.contains(part), "{part} is missing");
    }
    let again = succeeds(&mut shift(&own, &at("one"), &["--json"])).stdout;
    let said: serde_json::Value = serde_json::from_slice(&again).unwrap();
    assert_eq!((&said["policies"], &said["ran"], &said["rows"]), (&3.into(), &0.into(), &51.into()));
    assert!(said["summary"].as_str().unwrap().starts_with("Rank correlation with the return gap"), "{said}");
}

#[test]
fn toplines_are_trained_on_the_bodies_and_play_on_them() {
    if !skips::is_slow_tier("toplines of shift") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let (own, out) = (policies(folder.path()), folder.path().join("out"));
    succeeds(&mut shift(&own, &out, &[]));
    let table = out.join("bodies.csv");
    let (there, run) = (folder.path().join("toplines"), folder.path().join("topline"));
    std::fs::create_dir(&there).unwrap();
    let options =
        "train --env hopper --steps 300 --set hidden=[8] --set learning_starts=100 --set buffer=1000 --quiet";
    let args: Vec<&str> = options.split(' ').chain(["--parameter-table", table.to_str().unwrap()]).collect();
    succeeds(&mut offnominal(&args, &run));
    let card = std::fs::read_to_string(run.join("policy.json")).unwrap();
    assert!(card.contains("--parameter-table "), "{card}");
    std::fs::copy(run.join("policy.safetensors"), there.join("hopper-td3-1.safetensors")).unwrap();
    succeeds(&mut shift(&own, &out, &["--toplines", there.to_str().unwrap()]));
    let read = |file: &str| std::fs::read_to_string(out.join(file)).unwrap();
    assert_eq!(n_rows(&out.join("toplines.parquet")), 17);
    assert!(
        read("answers.csv").contains("share of bodies on which nominal policies beat toplines,toplines,0.1,")
    );
    assert!(read("report.html").contains("figure-toplines"));
}

#[test]
fn how_often_bodies_are_too_much_is_estimated_and_the_worst_are_searched_for() {
    let folder = tempfile::tempdir().unwrap();
    let (estimate, found) = (folder.path().join("risk"), folder.path().join("search"));
    let bodies = "--env hopper --policy td3 --randomise limbs --sigma 0.2 --below 900 --quiet";
    let run = |command: &str, out: &Path| {
        let line = format!("{command} {bodies}");
        offnominal(&line.split(' ').collect::<Vec<_>>(), out)
    };
    succeeds(&mut run("risk estimate --episodes 12", &estimate));
    let text = std::fs::read_to_string(estimate.join("risk.json")).unwrap();
    let said: serde_json::Value = serde_json::from_str(&text).unwrap();
    let n = said["failures"].as_array().unwrap().len();
    assert!((1..12).contains(&n), "{n} of 12 failed");
    let again =
        succeeds(&mut offnominal(&["render", estimate.to_str().unwrap()], &folder.path().join("video")));
    assert!(String::from_utf8_lossy(&again.stdout).contains("fails again"));
    succeeds(&mut run("risk search --strategy elites --searches 1 --budget 12", &found));
    let failures = std::fs::read_to_string(found.join("failures.json")).unwrap();
    assert!(failures.contains("initial"), "{failures}");
}

#[test]
fn what_cannot_be_drawn_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let refusal = |args: &str| fails(&mut offnominal(&args.split(' ').collect::<Vec<_>>(), folder.path()));
    assert!(
        refusal("train --env cartpole --randomise limbs")
            .contains("expected one of hopper, walker, ant, half-cheetah-m")
    );
    assert!(
        refusal("train --env hopper --randomise thigh-lenght").contains("did you mean \"thigh-length\"?")
    );
    assert!(refusal("train --env hopper --randomise limbs --sigma 0").contains("found 0"));
    assert!(
        refusal("risk estimate --env hopper --policy td3 --below nan")
            .contains("below: expected a finite return, found NaN")
    );
    assert!(
        refusal("risk estimate --env cartpole --policy random --stl theeta<1")
            .contains("did you mean \"theta\"?")
    );
}

#[test]
fn what_cannot_be_randomised_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let refusal = |args: &str| {
        let args: Vec<&str> = std::iter::once("shift").chain(args.split(' ')).collect();
        fails(&mut offnominal(&args, &out))
    };
    assert!(refusal("--env hoper").contains("did you mean \"hopper\"?"));
    assert!(refusal("--env cartpole").contains("expected one of hopper, walker, ant, half-cheetah-m"));
    assert!(
        refusal("--env hopper --sigma 0.1,-0.2")
            .contains("--sigma: expected numbers above 0 and up to 1, found -0.2")
    );
    assert!(refusal("--env hopper --randomise limbz").contains("did you mean \"limbs\"?"));
    assert!(refusal("--env hopper --detector pedm").contains("did you mean \"pe-dm\"?"));
    assert!(refusal("--env hopper --reading literal").contains("expected `true` or `paper-literal`"));
    let empty = folder.path().to_str().unwrap();
    assert!(
        refusal(&format!("--env hopper --policy {empty}"))
            .contains("expected policies named hopper-ALGORITHM-SEED")
    );
    let own = policies(folder.path());
    let other = own.join("hopper-td3-1.safetensors");
    let said = refusal(&format!("--env ant --policy {}", other.display()));
    assert!(said.contains("hopper-td3-1"), "{said}");
}
