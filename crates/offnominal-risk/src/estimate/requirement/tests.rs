//! Requirements on a pendulum, which itself calls nothing a failure, so that each can be counted alone.

use crate::estimate::document::Document;
use crate::estimate::{self, Request};
use crate::{search, split, stress};
use offnominal_engine::context::Context;
use offnominal_work::cli;
use serde_json::{Value, json};

const SLOW: &str = "always (abs(theta_velocity) < 6)";
const UP: &str = "eventually (cos_theta > 0.9)";

fn asked(stl: &[&str], more: Value) -> Value {
    let mut all =
        json!({ "env": "pendulum", "policy": "random", "episodes": 300, "scenario": { "stl": stl } });
    all.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    all
}

fn found(stl: &[&str], more: Value, jobs: usize) -> Document {
    let request: Request = cli::request(&asked(stl, more)).unwrap();
    estimate::alone(&request, &Context::silent(1, jobs)).unwrap().document
}

#[test]
fn each_requirement_is_counted_as_it_would_be_alone() {
    let both = found(&[SLOW, UP], json!({}), 1);
    let all = both.requirements.clone().unwrap();
    for (requirement, stl) in all.each.iter().zip([SLOW, UP]) {
        let alone = found(&[stl], json!({}), 1);
        assert!(alone.requirements.is_none(), "one formula is the criterion of failure and no more");
        assert_eq!(requirement.alone.risk, alone.risk.risk, "{stl}");
        assert_eq!(requirement.broken, alone.failures.len() as u64);
        let (risk, together) = (alone.risk.risk.unwrap(), requirement.together.clone().unwrap());
        assert!(together.low < risk.low && risk.high < together.high && together.value == risk.value);
    }
    let n_broken: Vec<u64> = all.each.iter().map(|r| r.broken).collect();
    assert!(n_broken[0] > 0 && n_broken[1] > 0 && n_broken[2] == 0, "{n_broken:?}");
    // Some broke both, and failed once.
    assert!((both.failures.len() as u64) < n_broken[0] + n_broken[1]);
    assert!(
        both.failures.iter().any(|f| f.broken == [1, 2])
            && both.failures.iter().all(|f| !f.broken.is_empty())
    );
    assert!(all.promise.contains("for all 3 at once hold together at 95 %"), "{}", all.promise);
    assert!(all.promise.contains("each of them holds at 98.33 % (Bonferroni)"), "{}", all.promise);
    // The same bits for any number of threads, and from the file.
    assert_eq!(found(&[SLOW, UP], json!({}), 3), both);
    assert_eq!(serde_json::from_value::<Document>(json!(both)).unwrap(), both);
}

#[test]
fn weighted_experiments_say_of_each_requirement_what_their_weights_do() {
    let more = json!({ "method": "adaptive", "rate": 0.5, "randomise": ["mass"] });
    let all = found(&[SLOW, UP], more, 2);
    for (number, requirement) in (1..).zip(&all.requirements.unwrap().each) {
        let shares = all.failures.iter().filter(|f| f.broken.contains(&number)).map(|f| f.share);
        let (expected, risk) = (shares.sum::<f64>(), requirement.alone.risk.as_ref().unwrap());
        assert!(
            (risk.value - expected).abs() < 1e-12 && risk.low <= expected && expected <= risk.high,
            "{risk:?}"
        );
        assert_eq!(risk.method, all.risk.risk.as_ref().unwrap().method);
    }
}

#[test]
fn a_run_that_is_continued_has_intervals_for_any_stop_of_each_requirement() {
    let folder = tempfile::tempdir().unwrap();
    let run = |episodes: u64| found(&[SLOW, UP], json!({ "episodes": episodes, "out": folder.path() }), 1);
    assert_eq!(run(100).requirements.unwrap().each[0].alone.risk.clone().unwrap().method, "clopper-pearson");
    let more = run(300);
    for requirement in &more.requirements.as_ref().unwrap().each {
        assert_eq!(requirement.alone.risk.as_ref().unwrap().method, "beta-binomial-sequence");
    }
    let page = std::fs::read_to_string(folder.path().join("report.html")).unwrap();
    assert!(page.contains("Each requirement") && page.contains("(Bonferroni)"));
}

#[test]
fn what_cannot_tell_formulas_apart_refuses_several_and_says_what_to_do() {
    let (context, several) = (Context::silent(1, 1), json!({ "stl": [SLOW, UP] }));
    let of = |more: Value| {
        let mut all =
            json!({ "env": "car-lanekeep?noise=datasheet", "policy": "random", "scenario": several });
        all.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        all
    };
    let split: split::Request = cli::request(&of(json!({}))).unwrap();
    let stress: stress::Request = cli::request(&of(json!({}))).unwrap();
    let said = [split::run(&split, &context).unwrap_err(), stress::run(&stress, &context).unwrap_err()];
    for error in said.map(|error| format!("{error:#}")) {
        assert_eq!(
            error,
            "stl: expected one formula, because only `risk estimate` and `risk search` tell several apart, found 2: join them \
             with `and`"
        );
    }
    let twice: Request = cli::request(&asked(&[UP, UP], json!({}))).unwrap();
    let error = estimate::alone(&twice, &context).unwrap_err().to_string();
    assert!(error.starts_with("stl: expected each formula once"), "{error}");
}

#[test]
fn a_search_ends_with_a_failure_of_the_most_important_requirement() {
    let folder = tempfile::tempdir().unwrap();
    let searched = |stl: [&str; 2], jobs: usize| {
        let out = folder.path().join(format!("{jobs}-{}", stl[0].len()));
        let asked = json!({ "env": "pendulum", "policies": ["random"], "strategies": ["random", "elites"],
            "searches": 6, "budget": 60, "scenario": { "stl": stl }, "out": out });
        let report = search::run(&cli::request(&asked).unwrap(), &Context::silent(1, jobs)).unwrap();
        let failures = std::fs::read(out.join("elites/failures.json")).unwrap();
        (report, serde_json::from_slice::<Vec<Value>>(&failures).unwrap())
    };
    // Nearly every episode breaks the second one; few break the first.
    let (rare, often) = ("always (abs(theta_velocity) < 7.5)", "always (abs(theta_velocity) < 3)");
    let (report, failures) = searched([rare, often], 2);
    assert_eq!(searched([rare, often], 1).0, report);
    let share = |strategy: &str, number: u64| {
        let of = report.requirements.iter().find(|r| r.strategy == strategy && r.number == number);
        of.unwrap().found.value
    };
    assert_eq!(report.requirements.len(), 6);
    assert!(share("elites", 2) == 1.0 && share("elites", 1) > 0.0, "{report}");
    for search in 0..6 {
        let own: Vec<&Value> = failures.iter().filter(|f| f["search"] == search).collect();
        let (last, before) = own.split_last().unwrap();
        assert!(before.iter().all(|f| f["broken"][0] != 1), "{own:?}");
        assert!(last["broken"][0] == 1 || own.len() > 1, "{own:?}");
    }
    assert!(report.to_string().contains("a search ends with its failure"), "{report}");
    // The other way round the first episodes end the searches.
    let (report, _) = searched([often, rare], 2);
    assert!(report.strategies[0].policies[0].experiments < 30, "{report}");
}

#[test]
fn a_search_follows_the_more_important_requirement_past_failures_of_the_others() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("draws.toml");
    let normal = |name: &str| format!("[draw.{name}]\ndistribution = \"normal\"\nmean = 0\nsd = 0.01\n");
    std::fs::write(&path, normal("x") + &normal("theta")).unwrap();
    // One draw in 1,400 breaks the first, one in six the second, and the pole nearly always falls.
    let asked = json!({ "env": "cartpole", "policies": ["random"], "strategies": ["random", "cross-entropy"],
        "searches": 6, "budget": 1500,
        "scenario": { "stl": ["x + theta < 0.045", "theta < 0.01"], "distribution": path } });
    let report = search::run(&cli::request(&asked).unwrap(), &Context::silent(1, 2)).unwrap();
    let [random, followed] = [0, 1].map(|i| report.strategies[i].policies[0].experiments);
    assert!(3 * followed < random, "{report}");
}
