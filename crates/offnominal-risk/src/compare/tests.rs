//! Comparisons of shipped and random policies as library calls: verdicts, threads, journals, anomalies, refusals.

use super::verdict::Requirement;
use super::*;
use offnominal_core::estimate::Estimate;
use offnominal_work::cli;
use quantity::Condition;
use report::Comparison;
use serde_json::{Value, json};

fn context() -> Context {
    Context::silent(5, 2)
}

fn asked(more: Value) -> Request {
    read(more).unwrap()
}

fn read(more: Value) -> Result<Request> {
    let mut all = json!({ "env": "cartpole", "old": "random", "new": "random", "episodes": 50 });
    all.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    cli::request(&all)
}

fn compared(more: Value) -> Report {
    play(&asked(more), &context()).unwrap()
}

fn refusal(more: Value) -> String {
    format!("{:#}", read(more).and_then(|request| play(&request, &context()).map(drop)).unwrap_err())
}

/// The shipped policy that balances the pole of this environment.
const BALANCES: &str = "tqc";

#[test]
fn the_same_policy_twice_differs_by_exactly_nothing_and_says_so() {
    let found = compared(json!({}));
    assert_eq!((found.metric, found.verdict, found.pairs), (Quantity::Success, Verdict::Undecided, 50));
    let zero = |e: &Estimate| e.value == 0.0 && e.low < 0.0 && e.high > 0.0;
    assert!(found.comparisons.iter().all(|c| zero(&c.difference)), "{found}");
    assert!(found.warnings[0].contains("are the same policy"), "{found}");
    assert!(found.unacceptable().is_none());
    // No difference is no worse than a margin, after enough pairs.
    let within =
        compared(json!({ "metric": "failure", "margin": 0.3, "require": "no-worse", "episodes": 500 }));
    assert!(within.verdict == Verdict::NoWorse && within.pairs < 500 && within.unacceptable().is_none());
}

#[test]
fn a_trained_policy_is_better_than_random_and_random_worse_and_both_stop_early() {
    let there =
        compared(json!({ "env": "sap-goal0", "new": BALANCES, "metric": "success", "require": "better" }));
    assert!(
        there.verdict == Verdict::Better && there.pairs == 25 && there.unacceptable().is_none(),
        "{there}"
    );
    let back = compared(json!({ "env": "sap-goal0", "old": BALANCES, "metric": "success" }));
    assert_eq!(back.verdict, Verdict::Worse);
    assert!(back.unacceptable().unwrap().contains("is worse than"), "{back}");
    let (a, b) = (&there.judged().unwrap().difference, &back.judged().unwrap().difference);
    assert!((a.value + b.value).abs() < 1e-12 && (a.low + b.high).abs() < 1e-9, "{a} {b}");
}

#[test]
fn the_same_bits_for_any_number_of_threads_and_for_a_run_that_was_interrupted() {
    let folder = tempfile::tempdir().unwrap();
    let more = json!({ "env": "sap-goal0", "new": BALANCES, "metric": "wins", "block": 5, "episodes": 10 });
    let mut with_out = more.clone();
    with_out["out"] = json!(folder.path());
    let alone = play(&asked(more), &Context::silent(5, 1)).unwrap();
    let kept = play(&asked(with_out.clone()), &context()).unwrap();
    assert_eq!(alone, kept);
    // A run that was killed while it wrote its last block.
    let path = folder.path().join(pairs::JOURNAL);
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, &text[..text.len() - 40]).unwrap();
    assert_eq!(play(&asked(with_out.clone()), &context()).unwrap(), alone);
    let again = std::fs::read_to_string(&path).unwrap();
    assert_eq!(again, text);
    // The journal answers other questions of the same pairs, and is of no other pairs.
    with_out["metric"] = json!("success");
    assert!(play(&asked(with_out.clone()), &context()).is_ok());
    with_out["old"] = json!(BALANCES);
    assert!(play(&asked(with_out), &context()).is_err());
}

#[test]
fn what_an_anomaly_costs_is_the_difference_of_differences() {
    let anomaly = json!({ "anomaly": "act-scaling", "magnitude": 0.2 });
    let found = compared(json!({
        "env": "sap-goal0", "new": BALANCES, "anomaly": anomaly, "twin": true, "metric": "return", "episodes": 60,
    }));
    assert_eq!((found.condition, found.episodes), (Condition::Cost, 4 * found.pairs));
    let of = |condition| {
        let is = |c: &&Comparison| c.quantity == Quantity::Return && c.condition == condition;
        found.comparisons.iter().find(is).unwrap().difference.value
    };
    let costs = of(Condition::Anomalous) - of(Condition::Nominal);
    assert!((of(Condition::Cost) - costs).abs() < 1e-9 * costs.abs().max(1.0), "{found}");
    // Without twins only the anomalous episodes are compared.
    let found = compared(json!({ "env": "sap-goal0", "new": BALANCES, "anomaly": anomaly }));
    assert_eq!(found.condition, Condition::Anomalous);
    assert!(found.comparisons.iter().all(|c| c.condition == Condition::Anomalous));
}

#[test]
fn returns_are_exact_with_a_range_and_say_that_they_are_not_without() {
    let policies = json!({ "env": "pendulum", "metric": "return", "episodes": 75 });
    let with = |range: Value| {
        let mut more = policies.clone();
        more["return_range"] = range;
        compared(more)
    };
    let exact = with(json!([-1e4, 1e4]));
    assert_eq!(exact.judged().unwrap().difference.method, "betting-sequence");
    let refused = refusal(json!({ "env": "pendulum", "metric": "return", "return_range": [1e5, 1e6] }));
    assert!(
        refused.starts_with("pair 0: return-range: expected returns from 100000 to 1000000, found"),
        "{refused}"
    );
}

#[test]
fn success_decides_where_it_is_defined_whatever_was_drawn() {
    for seed in 0..4 {
        let more = json!({ "env": "sap-goal0", "old": BALANCES, "margin": 0.05, "require": "no-worse", "block": 10 });
        let found = play(&asked(more), &Context::silent(seed, 2)).unwrap();
        assert_eq!((found.metric, found.verdict), (Quantity::Success, Verdict::Worse), "{seed}: {found}");
        assert!(found.unacceptable().is_some());
    }
    // Who says when an episode fails has said when one succeeds.
    assert_eq!(compared(json!({ "scenario": { "below": 1e3 }, "episodes": 10 })).metric, Quantity::Success);
}

#[test]
fn a_gate_does_not_pass_what_an_exact_interval_of_the_same_report_calls_worse() {
    let lazy = |metric: &str, margin: f64| {
        compared(json!({
            "env": "sap-goal0", "old": BALANCES, "metric": metric, "margin": margin, "require": "no-worse",
            "return_range": [-1000.0, 1000.0], "episodes": 400,
        }))
    };
    // It hardly fails, as it hardly moves; and so large a margin allows any return.
    for (metric, margin) in [("failure", 0.3), ("return", 1000.0)] {
        let found = lazy(metric, margin);
        assert!(Requirement::NoWorse.is_met(found.verdict), "{found}");
        assert!(found.also_worse.iter().any(|loss| loss.quantity == Quantity::Success), "{found}");
        assert!(found.unacceptable().unwrap().contains("success (nominal), whatever it is by"), "{found}");
        let verdict = found.to_string().trim_end().lines().last().unwrap().to_string();
        assert!(verdict.contains("it is worse by") && verdict.contains("success (nominal)"), "{verdict}");
        // Without a gate it is said, and nothing is refused.
        assert!(Report { require: None, ..found }.unacceptable().is_none());
    }
}

#[test]
fn where_nothing_fails_the_metric_failure_is_doubted() {
    let asked = compared(json!({ "env": "pendulum", "metric": "failure" }));
    assert!(asked.warnings.iter().any(|w| w.contains("may count nothing as failure")), "{asked}");
}

#[test]
fn what_cannot_be_is_refused_by_name() {
    let cases = [
        (json!({ "margin": 0.0 }), "margin: expected a number above 0 and below 1, found 0"),
        (json!({ "margin": 1.0 }), "margin: expected a number above 0 and below 1, found 1"),
        (json!({ "margin": -0.1, "metric": "return" }), "margin: expected a number above 0"),
        (json!({ "require": "no-worse" }), "require no-worse: expected a margin with it, found none"),
        (json!({ "metric": "alarms" }), "metric alarms: expected a monitor with it, found none"),
        (json!({ "twin": true }), "the following required arguments were not provided:\n  --anomaly <A>"),
        (json!({ "return_range": [2.0, 1.0] }), "return-range: expected two finite numbers"),
        (json!({ "episodes": 1 }), "episodes: expected 2 to"),
        (json!({ "block": 0 }), "block: expected 1 to"),
        (json!({ "level": 1.5 }), "confidence level: expected a number between 0 and 1, found 1.5"),
        (json!({ "monitor": "nowhere.monitor" }), "cannot read nowhere.monitor"),
    ];
    for (more, expected) in cases {
        let found = refusal(more);
        assert!(found.starts_with(expected), "{found}");
    }
    let other = concat!(env!("CARGO_MANIFEST_DIR"), "/../../agents/sap-goal0-tqc.safetensors");
    let other = refusal(json!({ "new": other }));
    assert!(other.contains("sap-goal0") && other.contains("cartpole"), "{other}");
}

#[test]
fn what_an_environment_or_an_episode_does_not_have_is_no_zero() {
    let played = |total_reward, success| {
        let nominal = Some(pair::Played {
            failed: false,
            total_reward,
            success,
            alarm: None,
            steps: 3,
            diverged: false,
        });
        pair::Side { nominal, anomalous: None }
    };
    let judged = |quantity| Judged {
        quantity,
        condition: Condition::Nominal,
        return_range: None,
        env: "cartpole".into(),
    };
    let pair = Pair { old: played(Some(2.0), None), new: played(Some(5.0), None) };
    let error = format!("{:#}", judged(Quantity::Success).gain(&pair, 7).unwrap_err());
    assert_eq!(error, "pair 7: success: environment cartpole does not define it");
    assert_eq!(judged(Quantity::Return).gain(&pair, 7).unwrap(), Some(3.0));
    assert_eq!(judged(Quantity::Wins).gain(&pair, 7).unwrap(), Some(1.0));
    let broken = Pair { new: played(None, None), ..pair };
    assert_eq!(judged(Quantity::Return).gain(&broken, 7).unwrap(), None);
}
