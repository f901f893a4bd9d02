//! Detectors that look inside the policy run beside those that do not, on the same episodes.

use crate::{fails, offnominal, succeeds};
use std::path::Path;

fn campaign(policy: &Path, detectors: &str, folder: &Path) -> String {
    let text = format!(
        r#"
name = "inside"
seed = 3
envs = ["cartpole"]
policies = ["{}"]
detectors = [{detectors}]
anomalies = [{{ id = "dyn-force", strength = "x3", magnitude = 30 }}]
onset = 0
replicates = 20
video = false

[episodes]
train = 6
validation = 20
test = 4
"#,
        policy.display()
    );
    let path = folder.join("campaign.toml");
    std::fs::write(&path, text).unwrap();
    path.display().to_string()
}

/// A policy after a moment of training; it need not be good.
pub fn train(seed: &str, option: &str, out: &Path) -> std::path::PathBuf {
    train_in("cartpole", seed, option, out)
}

/// The same in an environment.
pub fn train_in(env: &str, seed: &str, option: &str, out: &Path) -> std::path::PathBuf {
    let options = ["hidden=[12,8]", "learning_starts=50", "batch=8", option];
    let set = options.iter().flat_map(|option| ["--set", option]);
    let args = ["train", "--env", env, "--steps", "300", "--eval-every", "300", "--seed", seed];
    succeeds(&mut offnominal(&args.into_iter().chain(set).collect::<Vec<_>>(), out));
    out.join("policy.safetensors")
}

/// The table of results.
fn judged(out: &Path) -> String {
    std::fs::read_to_string(out.join("results.csv")).unwrap()
}

#[test]
fn both_kinds_of_detectors_judge_the_same_episodes() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let detectors = r#"
        "knn", "rnd", "disagreement", "feature-knn", "feature-mahalanobis",
        { id = "disagreement", name = "votes", measure = "vote-entropy" },
        { id = "cusum", name = "summed", inner = "disagreement" }"#;
    let dropping = train("1", "dropout=0.1", &at("dropping"));
    let plan = campaign(&dropping, detectors, folder.path());
    succeeds(&mut offnominal(&["bench", &plan, "--jobs", "1"], &at("one")));
    succeeds(&mut offnominal(&["bench", &plan, "--jobs", "3"], &at("three")));
    let results = judged(&at("one"));
    assert_eq!(results, judged(&at("three")), "passes must not depend on who makes them");
    let rows = |detector: &str| results.lines().filter(|l| l.contains(&format!(",{detector},"))).count();
    assert!(rows("knn") > 0, "{results}");
    for detector in ["rnd", "disagreement", "feature-knn", "feature-mahalanobis", "votes", "summed"] {
        assert_eq!(rows(detector), rows("knn"), "{detector}");
    }
}

#[test]
fn a_policy_that_cannot_disagree_is_refused_and_two_of_them_are_an_ensemble() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let members = ["1", "2"].map(|seed| train(seed, "double=true", &at(seed)));
    let plan = campaign(&members[0], r#""feature-knn", "disagreement""#, folder.path());
    let mut bench = offnominal(&["bench", &plan], &at("plain"));
    let output = bench.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    let want = "expected a policy with dropout, dropconnect or the members of an ensemble, found one without";
    assert!(
        !output.status.success() && said.contains("detector disagreement") && said.contains(want),
        "{said}"
    );
    let [first, second] = members.each_ref().map(|path| path.to_str().unwrap());
    succeeds(&mut offnominal(&["ensemble", "--env", "cartpole", first, second], &at("both")));
    let plan = campaign(&at("both").join("policy.safetensors"), r#""disagreement""#, folder.path());
    succeeds(&mut offnominal(&["bench", &plan], &at("together")));
    let plan = campaign(&members[0], r#"{ id = "disagreement", measure = "sd" }"#, folder.path());
    let said = fails(&mut offnominal(&["bench", &plan], &at("wrong")));
    assert!(said.contains("expected one of") && said.contains("mean-sd"), "{said}");
}
