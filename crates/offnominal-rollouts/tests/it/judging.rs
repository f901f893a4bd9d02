//! What judging does with data that are not as one would like them.

use offnominal_core::Rng;
use offnominal_rollouts::judge::{Judged, Request, judge};
use offnominal_rollouts::rollout::{Rollout, Rollouts};
use offnominal_work::context::Context;

/// Rollouts of three tasks, the last of which never fails; a failure's signal is larger by `shift`.
fn drawn(n: usize, shift: f64) -> Rollouts {
    let mut rng = Rng::new(5);
    let mut one = |i: usize| {
        let (task, fails) = (i % 3, i % 3 != 2 && i.is_multiple_of(4));
        let steps = if fails { 20 } else { 8 + rng.below(10) };
        let signal = (0..steps).map(|_| rng.uniform() + if fails { shift } else { 0.0 }).collect();
        Rollout { name: i.to_string(), task, fails, signals: vec![signal], ..Rollout::default() }
    };
    let rollouts = (0..n).map(&mut one).collect();
    let tasks = ["lift", "push", "wipe"].map(String::from).into();
    Rollouts { signals: vec!["x".into()], tasks, rollouts, ..Rollouts::default() }
}

fn judged(data: &Rollouts, request: Request) -> Result<Judged, String> {
    let request = Request { replicates: 100, ..request };
    judge(&request, data, &Context::silent(1, 2)).map_err(|e| format!("{e:#}"))
}

fn split(text: &str) -> Request {
    Request { splits: vec![text.parse().unwrap()], ..plain() }
}

#[test]
fn a_part_whose_tasks_never_fail_is_left_out() {
    let found = judged(&drawn(90, 0.5), split("tasks:3")).unwrap();
    let section = &found.sections[0];
    assert_eq!((section.parts, section.rollouts), (3, 90));
    let signal = section.detectors.iter().find(|d| d.detector == "x").unwrap();
    assert!(signal.landmark.pairs.low > 0.7, "{}", signal.landmark.pairs);
    // The tasks that are judged are unknown to the part's thresholds.
    assert_eq!(signal.alarms, None);
}

#[test]
fn a_signal_of_nothing_is_at_chance_and_a_clock_exactly() {
    let found = judged(&drawn(1200, 0.0), plain()).unwrap();
    let of = |name: &str| found.sections[0].detectors.iter().find(|d| d.detector == name).unwrap();
    // Two hundred failures of twenty steps: a standard error of about .007.
    assert!((of("x").landmark.pairs.value - 0.5).abs() < 0.03, "{}", of("x").landmark.pairs);
    assert_eq!(of("clock").landmark.cells.value, 0.5);
    // What a maximum over more rows is worth.
    assert!(of("random").protocols[0].auroc.low > 0.5, "{}", of("random").protocols[0].auroc);
}

#[test]
fn what_cannot_be_compared_is_said() {
    let late = Request { from_step: 19, ..plain() };
    let error = judged(&drawn(60, 0.5), late).unwrap_err();
    assert!(error.contains("expected a step at which a failure and a success of one task run"), "{error}");
    let error = judged(&drawn(60, 0.5), split("unseen:0")).unwrap_err();
    assert!(error.contains("unseen:0: expected more than 3 tasks, found 3"), "{error}");
    let few = Request { replicates: 3, ..plain() };
    let error = judge(&few, &drawn(60, 0.5), &Context::silent(1, 1)).unwrap_err().to_string();
    assert!(error.contains("expected 100 to 100000 replicates, found 3"), "{error}");
}

#[test]
fn a_promise_is_kept_and_counted_by_where_it_comes_from() {
    let data = drawn(600, 0.5);
    let found = judged(&data, Request { alpha: 0.1, ..split("folds:4") }).unwrap();
    let signal = found.sections[0].detectors.iter().find(|d| d.detector == "x").unwrap();
    let alarms = signal.alarms.as_ref().unwrap();
    assert_eq!(alarms.own + alarms.pooled + alarms.without, 600);
    assert!(alarms.own > 500 && alarms.false_alarms.low < 0.1, "{alarms:?}");
    assert!(alarms.detected.as_ref().unwrap().value > 0.9, "{alarms:?}");
}

#[test]
fn where_failures_begin_is_compared_if_it_is_known() {
    let mut data = drawn(90, 0.0);
    assert_eq!(judged(&data, plain()).unwrap().sections[0].detectors[0].incident, None);
    for r in data.rollouts.iter_mut().filter(|r| r.fails) {
        // The signal jumps where the failure begins, and is as ever otherwise.
        r.failure_step = Some(6);
        r.signals[0][6] += 2.0;
    }
    let found = judged(&data, plain()).unwrap();
    let of = |name: &str| found.sections[0].detectors.iter().find(|d| d.detector == name).unwrap();
    assert_eq!(of("x").incident.as_ref().unwrap().value, 1.0);
    assert_eq!(of("clock").incident.as_ref().unwrap().value, 0.5);
    assert!(of("x").landmark.pairs.value < 0.7, "{}", of("x").landmark.pairs);
}

/// What is asked for if nothing is.
fn plain() -> Request {
    offnominal_work::cli::request(&serde_json::json!({ "files": ["-"] })).unwrap()
}
