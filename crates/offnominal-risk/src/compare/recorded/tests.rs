//! Recorded outcomes as library calls: formats, matching, decisions, laws, refusals.

use super::document::undecided;
use super::*;
use serde_json::json;
use std::path::PathBuf;

fn file(name: &str) -> String {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name).display().to_string()
}

fn asked(named: &[&str], most: Option<u64>) -> Result<Recorded> {
    let question = Question { named: named.to_vec(), margin: None, require: None, most, level: Level::P95 };
    run(&question, &Context::silent(0, 1))
}

fn compared(named: &[&str]) -> Recorded {
    asked(named, None).unwrap()
}

fn files(names: [&str; 2]) -> Recorded {
    let [old, new] = names.map(file);
    compared(&[&old, &new])
}

/// A table in a folder of its own.
fn table(text: &str) -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.csv");
    std::fs::write(&path, text).unwrap();
    let path = path.display().to_string();
    (folder, path)
}

fn of_table(text: &str) -> Result<Recorded> {
    let (_folder, path) = table(text);
    asked(&[&path], None)
}

fn rows(lines: impl Iterator<Item = (&'static str, u32, u32)>) -> String {
    lines.fold("policy,seed,success\n".into(), |text, (policy, seed, success)| {
        format!("{text}{policy},{seed},{success}\n")
    })
}

#[test]
fn lerobot_with_seeds_is_matched_by_them() {
    let found = files(["lerobot-old.json", "lerobot-new.json"]);
    let [row] = &found.decides[..] else { panic!("{found}") };
    assert_eq!((row.pairs, row.matched, &*found.metric), (50, By::Seed, "success"));
    assert_eq!(found.policies[0].format, "eval_info.json of LeRobot");
    assert!(found.details.is_empty() && found.remarks.is_empty(), "{found}");
    let said = found.sentences().next().unwrap();
    assert!(row.verdict == Verdict::Undecided && row.needed.unwrap() > 50, "{said}");
    assert!(said.starts_with("no decision yet: 50 pairs do not separate them; about "), "{said}");
}

#[test]
fn lerobot_of_several_tasks_is_matched_by_order_and_has_a_row_for_each() {
    let found = files(["lerobot-tasks-old.json", "lerobot-tasks-new.json"]);
    assert_eq!((found.decides[0].pairs, found.details.len()), (60, 3));
    assert_eq!(found.details[1].task.as_deref(), Some("libero_spatial/1"));
    assert!(found.remarks[0].contains("not all trials have a seed"), "{found}");
    let mean: f64 = found.details.iter().map(|row| row.difference.value / 3.0).sum();
    assert!((found.decides[0].difference.value - mean).abs() < 1e-12);
    // The tasks share one error, so their intervals are wider.
    assert!(found.details[0].difference.level > found.decides[0].difference.level);
}

#[test]
fn logs_of_inspect_robots_are_matched_by_scene_and_trial() {
    let found = files(["inspect-robots-random.json", "inspect-robots-scripted.json"]);
    assert_eq!((found.decides[0].matched, found.decides[0].pairs), (By::Seed, 20));
    assert_eq!((found.verdict, found.decides[0].old.value), (Verdict::Better, 0.05));
    assert!(found.unacceptable().is_none());
    let back = files(["inspect-robots-scripted.json", "inspect-robots-random.json"]);
    assert!(back.unacceptable().unwrap().contains("NEW is worse by success"), "{back}");
}

#[test]
fn a_table_of_several_policies_compares_each_with_the_first() {
    let found = compared(&[&file("trials.csv")]);
    assert_eq!(found.decides.iter().map(|row| &*row.policy).collect::<Vec<_>>(), ["diffusion", "smolvla"]);
    assert_eq!((found.details.len(), found.decides[0].pairs), (4, 40));
    assert!(found.remarks.iter().any(|remark| remark.starts_with("OLD is act, the first policy")), "{found}");
    assert!(found.decides[0].verdict == Verdict::Better && found.decides[1].verdict == Verdict::Undecided);
    assert_eq!(found.verdict, Verdict::Undecided);
}

#[test]
fn partial_credit_is_compared_too() {
    let found = compared(&[&file("scores.csv")]);
    assert_eq!((&*found.metric, found.verdict), ("score", Verdict::Better));
    let row = &found.decides[0];
    assert!(
        (row.new.value - row.old.value - row.difference.value).abs() < 1e-12 && row.old.covers(0.6),
        "{found}"
    );
}

#[test]
fn what_a_perturbation_costs_is_compared_with_the_matched_benign_arm() {
    let found = compared(&[&file("perturbed.csv")]);
    let [blur, glare] = &found.decides[..] else { panic!("{found}") };
    let raw = |name: &str, condition| {
        let is = |row: &&Row| row.perturbation.as_deref() == Some(name) && row.condition == condition;
        found.details.iter().find(is).unwrap().difference.value
    };
    let nominal =
        found.details.iter().find(|row| row.condition == Condition::Nominal).unwrap().difference.value;
    for (row, name) in [(blur, "blur"), (glare, "glare")] {
        let cost = raw(name, Condition::Anomalous) - nominal;
        assert!((row.difference.value - cost).abs() < 1e-12 && row.condition == Condition::Cost, "{found}");
    }
    // With blur alone NEW looks worse, and it loses less by it than OLD does.
    assert!(raw("blur", Condition::Anomalous) < 0.0 && blur.difference.value > 0.0, "{found}");
    assert!(
        found.remarks.iter().any(|r| r.starts_with("1 of 2 perturbations: the difference changes its sign")),
        "{found}"
    );
}

#[test]
fn counts_are_compared_and_say_what_they_assume() {
    let found = compared(&["25/50", "29/50"]);
    assert_eq!((found.verdict, found.decides[0].matched), (Verdict::Undecided, By::Counts));
    assert!(
        found.decides[0].needed.unwrap() > 500 && found.remarks[0].contains("fixed beforehand"),
        "{found}"
    );
    assert_eq!(compared(&["20/50", "40/50"]).verdict, Verdict::Better);
    assert_eq!(compared(&["40/50", "20/50", "39/50"]).decides.len(), 2);
    // A difference that is stated before any trial: what would be needed for it.
    assert_eq!(
        compared(&["50/100", "60/100"]).decides[0].needed,
        compared(&["5/10", "6/10"]).decides[0].needed
    );
    // Numbers of trials may differ, if they are not large.
    assert_eq!(compared(&["1000/2000", "700/1000"]).verdict, Verdict::Better);
    let large = format!("{:#}", asked(&["1000/2001", "700/1000"], None).unwrap_err());
    assert!(
        large.contains("expected counts of equally many trials, or of 2000 at most, found 2001 and 1000"),
        "{large}"
    );
    let mixed = compared(&[&file("lerobot-old.json"), "45/50"]);
    assert_eq!(mixed.decides[0].matched, By::Counts);
}

#[test]
fn the_order_of_rows_says_nothing_where_seeds_match() {
    let luck = |seed: u32| (u32::from(seed.is_multiple_of(3)), u32::from(!seed.is_multiple_of(4)));
    let lines: Vec<(&str, u32, u32)> =
        (0..30).flat_map(|seed| [("a", seed, luck(seed).0), ("b", seed, luck(seed).1)]).collect();
    let there = of_table(&rows(lines.iter().copied())).unwrap();
    let mut shuffled = lines.clone();
    shuffled[1..].reverse();
    let back = of_table(&rows(shuffled.into_iter())).unwrap();
    let plain = |row: &Row| (row.difference.clone(), row.verdict, row.pairs, row.needed);
    assert_eq!(plain(&there.decides[0]), plain(&back.decides[0]));
}

#[test]
fn exchanged_policies_mirror_the_result() {
    let (there, back) =
        (files(["lerobot-old.json", "lerobot-new.json"]), files(["lerobot-new.json", "lerobot-old.json"]));
    let (a, b) = (&there.decides[0], &back.decides[0]);
    assert!((a.difference.low + b.difference.high).abs() < 1e-9 && a.needed == b.needed, "{there}{back}");
    assert_eq!(a.e_value, b.e_value);
}

#[test]
fn a_plan_decides_earlier_than_the_sequence_that_knows_no_end() {
    let lines = |policy, of: fn(u32) -> bool| (0..20).map(move |i| (policy, i, u32::from(of(i))));
    let text = rows(lines("a", |i| i % 3 == 0).chain(lines("b", |i| i % 6 != 0)));
    let text: String = text
        .lines()
        .map(|line| {
            let cells: Vec<&str> = line.split(',').collect();
            format!("{},{}\n", cells[0], cells[2])
        })
        .collect();
    let (_folder, path) = table(&text);
    let (open, planned) = (asked(&[&path], None).unwrap(), asked(&[&path], Some(40)).unwrap());
    let row = &planned.decides[0];
    assert_eq!((open.verdict, planned.verdict, row.planned), (Verdict::Undecided, Verdict::Better, Some(40)));
    assert!(
        row.decided_after.unwrap() < 20 && row.sentence("success").contains("of 40 planned trials"),
        "{planned}"
    );
    let few = format!("{:#}", asked(&[&path], Some(10)).unwrap_err());
    assert!(few.contains("expected at least the 20 trials that were recorded, found 10"), "{few}");
    // Trials with seeds depend on one another: the plan does not hold for them.
    let seeds = asked(&[&file("lerobot-old.json"), &file("lerobot-new.json")], Some(100)).unwrap();
    assert!(
        seeds.decides[0].planned.is_none() && seeds.remarks.iter().any(|r| r.contains("changes nothing"))
    );
}

#[test]
fn no_difference_needs_no_number() {
    let found = compared(&["25/50", "25/50"]);
    let said = found.sentences().next().unwrap();
    assert_eq!(said, "no decision yet: 50 pairs do not separate them, and no difference was seen");
    let tiny = compared(&["5000/10000", "5001/10000"]);
    assert!(tiny.sentences().next().unwrap().contains("more than 20000 would be needed"), "{tiny}");
    assert!(
        undecided(50, Some(180), &found.decides[0].difference)
            .ends_with("about 180 would if the difference is real")
    );
}

#[test]
fn what_cannot_be_is_refused_by_its_place() {
    let head = "policy,task,seed,success\n";
    let cases = [
        (
            "a,t,1,1\nb,t,1,yes\n",
            "row 2: success: expected true, false, or a number from 0 to 1, found \"yes\"",
        ),
        (
            "a,t,1,1\nb,t,1,1.5\n",
            "row 2: success: expected true, false, or a number from 0 to 1, found \"1.5\"",
        ),
        (
            "a,t,1,1\nb,t,1,NaN\n",
            "row 2: success: expected true, false, or a number from 0 to 1, found \"NaN\"",
        ),
        ("a,t,1,1\nb,t,1,\n", "row 2: success: expected true, false, or a number from 0 to 1, found \"\""),
        (
            "a,t,1,1\na,t,1,0\nb,t,1,1\n",
            "policy a, trial 2: expected each seed once in a task, found 1 again",
        ),
        (
            "a,t,1,1\na,t,,0\nb,t,1,1\n",
            "policy a, trial 2: expected a seed as in the trials before, found none",
        ),
        ("a,t,1,1\na,t,2,0\n", "expected two policies at least, found 1"),
        ("a,t,1,1\nb,u,1,1\n", "b: expected a task of a, found none of them"),
        ("", "expected rows with trials, found none"),
    ];
    for (text, expected) in cases {
        let found = format!("{:#}", of_table(&format!("{head}{text}")).unwrap_err());
        assert!(found.contains(expected), "{found}");
    }
    let columns = [
        ("policy,seed\na,1\nb,1\n", "expected a column success or score, found policy, seed"),
        ("policy,success,score\na,1,1\nb,1,1\n", "expected a column success or score, found both"),
        ("policy,condition,success\na,blur,1\nb,blur,1\n", "condition: expected a benign arm (nominal"),
        (
            "policy,condition,success\na,none,1\na,clean,1\nb,none,1\n",
            "expected one benign arm, found none, clean",
        ),
    ];
    for (text, expected) in columns {
        let found = format!("{:#}", of_table(text).unwrap_err());
        assert!(found.contains(expected), "{found}");
    }
    let counts = [
        (["5/4", "1/2"], "5/4: expected successes of 1 to"),
        (["0/0", "1/2"], "0/0: expected successes of 1 to"),
    ];
    for (named, expected) in counts {
        assert!(format!("{:#}", asked(&named, None).unwrap_err()).contains(expected));
    }
    let old = file("lerobot-old.json");
    assert!(format!("{:#}", asked(&[&old, &old], None).unwrap_err()).contains("expected each policy once"));
    assert!(
        format!("{:#}", asked(&["nowhere.csv", "1/2"], None).unwrap_err())
            .contains("nowhere.csv: expected a file of recorded outcomes")
    );
}

#[test]
fn broken_json_is_refused_by_its_field() {
    let cases = [
        (
            json!({ "per_episode": [{ "seed": 1 }] }),
            "per_episode[0]: success: expected it, found no such field",
        ),
        (json!({ "per_episode": 3 }), "per_episode: expected a list, found none"),
        (json!({ "per_episode": [] }), "expected 1 to 1000000 trials, found 0"),
        (
            json!({ "per_task": [{ "task_group": "g", "task_id": 0, "metrics": {} }] }),
            "metrics.successes: expected a list",
        ),
        (json!({ "per_task": [{ "task_id": 0 }] }), "per_task[0]: task_group: expected a name, found none"),
        (json!({ "version": 2, "eval": {}, "samples": [] }), "version: expected 1, found Some(2)"),
        (
            json!({ "version": 1, "eval": { "task": "t" }, "samples": [{ "scene_id": "s", "epochs": [{ "a": 1, "b": 2 }] }] }),
            "samples[0]: expected one of the scores",
        ),
        (json!({ "other": 1 }), "found the fields other"),
    ];
    for (document, expected) in cases {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.json");
        std::fs::write(&path, document.to_string()).unwrap();
        let found = format!("{:#}", asked(&[&path.display().to_string(), "1/2"], None).unwrap_err());
        assert!(found.contains(expected), "{found}");
    }
}

#[test]
fn a_log_in_which_trials_broke_off_says_so() {
    let sample = json!({ "scene_id": "s", "epochs": [{ "operator": 1.0 }, {}, { "operator": 0.0, "episode_length": 9 }] });
    let document = json!({ "version": 1, "eval": { "task": "t" }, "samples": [sample] });
    let found = read::from_bytes(document.to_string().as_bytes(), std::path::Path::new("a.json")).unwrap();
    let outcomes: Vec<f64> = found[0].trials().iter().map(|trial| trial.outcome).collect();
    assert_eq!((outcomes, found[0].trials()[1].seed.as_deref()), (vec![1.0, 0.0], Some("s, trial 3")));
    assert_eq!(found[0].remarks, ["1 trials of t broke off and have no score: they are left out"]);
}

#[test]
fn a_margin_is_met_by_what_is_as_good() {
    let question = |require| Question {
        named: vec!["450/500", "452/500"],
        margin: Some(0.1),
        require: Some(require),
        most: None,
        level: Level::P95,
    };
    let found = run(&question(Requirement::NoWorse), &Context::silent(0, 1)).unwrap();
    assert!(found.verdict == Verdict::NoWorse && found.unacceptable().is_none(), "{found}");
    let found = run(&question(Requirement::Better), &Context::silent(0, 1)).unwrap();
    assert!(found.unacceptable().is_some());
}
