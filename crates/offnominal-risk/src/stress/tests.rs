//! The likeliest failure of a linear toy is known; journals, threads and replays give the same bits; bad input is named.

use super::hunt::{Hunt, Strategy, StressRun, StressSpec};
use super::report::Report;
use super::series::square;
use super::*;
use crate::testing::{self, Leaky};
use offnominal_core::Seed;
use offnominal_core::prelude::*;
use offnominal_work::cli;
use serde_json::json;
use std::path::Path;

const STEPS: u32 = 40;

fn request(strategies: &[&str], more: serde_json::Value) -> Request {
    let mut request = json!({
        "env": "leaky?noise=white", "policy": "still", "strategies": strategies, "searches": 4, "budget": 2000, "refine": 800
    });
    request.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    cli::request(&request).unwrap()
}

fn searched(
    subject: &Subject,
    request: &Request,
    folder: Option<&Path>,
    jobs: usize,
) -> Vec<(StressSpec, Vec<StressRun>)> {
    let context = testing::context(jobs);
    let by = Experimenter::new(subject, context.seed).unwrap();
    let one = |strategy: Strategy| {
        let spec = request.spec(subject, strategy, context.seed).unwrap();
        let folder = folder.map(|f| f.join(strategy.name()));
        let found = Hunt::new(by, &spec).unwrap().run(folder.as_deref(), request.searches, &context).unwrap();
        (spec, found)
    };
    request.strategies().into_iter().map(one).collect()
}

fn reported(subject: &Subject, request: &Request) -> Report {
    Report::new((request, ""), subject, searched(subject, request, None, 2), Level::P95).unwrap()
}

/// A sum of 40 numbers that must reach 7 standard deviations of itself: no plain draw does that.
fn rare(kept: f64) -> Leaky {
    let unit = Leaky::new(kept, 1.0, STEPS);
    Leaky::new(kept, 7.0 / unit.distance(), STEPS)
}

#[test]
fn the_likeliest_failure_of_a_sum_is_found_where_no_draw_fails() {
    let report = reported(&rare(1.0).subject(), &request(&[], json!({})));
    let of = |s: Strategy| report.strategies.iter().find(|row| row.strategy == s).unwrap();
    assert_eq!(of(Strategy::Random).found.as_ref().unwrap().value, 0.0);
    for strategy in [Strategy::Climb, Strategy::CrossEntropy] {
        assert_eq!(of(strategy).found.as_ref().unwrap().value, 1.0, "{strategy:?}");
        // Log-likelihoods within 4 % of the optimum, −7²/2.
        let [_, _, most] = of(strategy).distance.unwrap();
        assert!((7.0..7.0 * 1.02).contains(&most), "{strategy:?}: {most}");
        let times = of(strategy).cost.as_ref().unwrap().policies[0].times_fewer.as_ref().unwrap();
        assert!(times.low > 1.0, "{times}");
    }
    assert!(report.to_string().contains("climb            found a failure in 1.00"), "{report}");
}

#[test]
fn a_system_that_forgets_is_disturbed_where_it_counts() {
    let report = reported(&rare(0.8).subject(), &request(&["climb"], json!({ "refine": 1500 })));
    assert_eq!(report.failures.len(), 4);
    let likeliest = &report.failures[0];
    assert!((7.0..7.0 * 1.03).contains(&likeliest.likelihood.distance), "{}", likeliest.likelihood.distance);
    // The late steps count, and early ones hardly.
    let power = |rows: &[Vec<f64>]| rows.iter().map(|row| row[0] * row[0]).sum::<f64>();
    let (early, late) = likeliest.disturbances.split_at(likeliest.disturbances.len() / 2);
    assert!(power(early) < 0.05 * power(late));
}

#[test]
fn refinement_never_lowers_the_likelihood_of_a_draw_that_fails() {
    // The sum must reach one standard deviation: plain draws fail often.
    let leaky = Leaky::new(1.0, f64::from(STEPS).sqrt(), STEPS);
    let report = reported(&leaky.subject(), &request(&["random"], json!({ "searches": 20 })));
    assert_eq!(report.failures.len(), 20);
    for failure in &report.failures {
        assert!(failure.likelihood.distance <= failure.first.distance);
        assert!((1.0..1.05).contains(&failure.likelihood.distance), "{:?}", failure.likelihood);
        // A draw is as far away as a draw is.
        assert!((0.4..1.6).contains(&failure.first.rms), "{:?}", failure.first);
    }
}

#[test]
fn an_episode_that_fails_undisturbed_is_said_to_and_is_not_searched() {
    let report = reported(&Leaky::new(1.0, -1.0, STEPS).subject(), &request(&[], json!({})));
    assert_eq!((report.fail_undisturbed.len(), report.failures.len()), (4, 0));
    assert!(report.strategies.iter().all(|row| row.found.is_none() && row.cost.is_none()));
    assert!(
        report.warnings[0].contains("4 of 4 searches begin where the episode fails without any"),
        "{report}"
    );
}

#[test]
fn searches_are_the_same_bits_on_any_threads_and_after_a_kill() {
    let (subject, folder) = (rare(1.0).subject(), tempfile::tempdir().unwrap());
    let request = request(&["climb"], json!({ "refine": 100 }));
    let whole = searched(&subject, &request, None, 1);
    assert_eq!(searched(&subject, &request, Some(folder.path()), 3), whole);
    let journal = folder.path().join("climb/searches.jsonl");
    let text = std::fs::read_to_string(&journal).unwrap();
    let kept: Vec<&str> = text.lines().take(2).collect();
    std::fs::write(&journal, kept.join("\n") + "\n" + "{\"cut").unwrap();
    assert_eq!(searched(&subject, &request, Some(folder.path()), 2), whole);
    // Another budget is another run.
    let other = Request { budget: 7, ..request };
    let spec = other.spec(&subject, Strategy::Climb, 1).unwrap();
    let by = Experimenter::new(&subject, 1).unwrap();
    let hunt = Hunt::new(by, &spec).unwrap();
    assert!(hunt.run(Some(&folder.path().join("climb")), 4, &testing::context(1)).is_err());
}

#[test]
fn a_search_that_is_stopped_is_not_kept() {
    let (context, folder) = (testing::context(1), tempfile::tempdir().unwrap());
    let stop = std::sync::Arc::clone(&context.stop);
    let policy = move |_: &[f32], action: &mut [f32]| {
        action.fill(0.0);
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
    };
    let subject = Subject { policy: Box::new(policy), ..rare(1.0).subject() };
    let spec = request(&["climb"], json!({})).spec(&subject, Strategy::Climb, 1).unwrap();
    let by = Experimenter::new(&subject, 1).unwrap();
    assert!(Hunt::new(by, &spec).unwrap().run(Some(folder.path()), 1, &context).is_err());
    let journal = std::fs::read_to_string(folder.path().join("searches.jsonl")).unwrap();
    assert_eq!(journal.lines().count(), 1, "the run and no search: {journal}");
}

#[test]
fn a_failure_comes_back_from_the_file_with_the_same_bits() {
    let subject = rare(1.0).subject();
    let report = reported(&subject, &request(&["climb"], json!({ "refine": 50 })));
    let kept = again::Kept::parse(report.json().unwrap().as_bytes()).unwrap();
    assert_eq!((&kept.failures, &kept.played), (&report.failures, &report.played));
    let failure = &kept.failures[0];
    let mut env = subject.env.fork().unwrap();
    env.choose_noise(&failure.series().into());
    let trial = Trial { env: env.as_ref(), ..subject.trial() };
    let episode = trial.starting_at(failure.initial.clone(), failure.key, &mut |_| ());
    assert_eq!((episode.end, episode.len()), (End::Failed, failure.steps));
    // By hand: the sum of what the file says reaches the height.
    let sum: f64 = failure.disturbances.iter().map(|row| row[0]).sum();
    assert!((sum / (7.0 * f64::from(STEPS).sqrt()) - 1.0).abs() < 0.01, "{sum}");
    let found =
        again::Kept::parse(report.json().unwrap().replace("\"start\": []", "\"start\": [1e999]").as_bytes());
    assert!(found.is_err());
}

#[test]
fn all_searches_can_begin_from_one_initial_condition() {
    let subject = rare(1.0).subject();
    let found = searched(&subject, &request(&["climb"], json!({ "start": 3, "refine": 0 })), None, 2);
    let keys: Vec<Seed> = found.iter().flat_map(|(_, found)| found.iter().map(|f| f.key)).collect();
    assert!(keys.iter().all(|key| *key == keys[0]));
    let z = |i: usize| found[1].1[i].failure.as_ref().unwrap().z.clone();
    assert_ne!(z(0), z(1), "each search has disturbances of its own");
    assert!(square(&z(0)) > 49.0 && z(0).len() <= STEPS as usize);
}

#[test]
fn what_cannot_be_searched_is_named() {
    let said = |env: &str, more: serde_json::Value| {
        let request = request(&["climb"], more);
        let request = Request { env: env.into(), policy: "random".into(), ..request };
        format!("{:#}", run(&request, &testing::context(1)).unwrap_err())
    };
    let found = said("pendulum", json!({}));
    assert!(found.contains("environment pendulum: expected nominal noise to search, found none"), "{found}");
    let found = said("sap-goal2?noise=datasheet", json!({ "noise": "rough" }));
    assert!(
        found.contains("noise: expected none beside that of sap-goal2?noise=datasheet, found rough"),
        "{found}"
    );
    assert_eq!(said("pendulum", json!({ "budget": 0 })), "budget: expected 1 to 100000000, found 0");
    assert_eq!(said("pendulum", json!({ "parts": 0 })), "parts: expected 1 to 10000, found 0");
}

#[test]
fn a_strategy_that_needs_a_margin_says_so() {
    let toy = testing::Toy::new(0.5);
    let white = offnominal_core::noisy::Term { white: 1.0, ..Default::default() };
    let noise = offnominal_core::noisy::NominalNoise {
        observation: vec![white],
        action: vec![Default::default()],
        jitter_secs: 0.0,
    };
    let env = offnominal_core::noisy::Noisy::new(Box::new(toy.clone()), noise, "toy?noise=x", "").unwrap();
    let subject = Subject { env: Box::new(env), ..testing::subject(&toy) };
    let by = Experimenter::new(&subject, 1).unwrap();
    let request = request(&[], json!({}));
    let spec = |s| request.spec(&subject, s, 1).unwrap();
    let why = Hunt::new(by, &spec(Strategy::Climb)).err().unwrap().to_string();
    assert_eq!(
        why,
        "strategy climb: expected an environment with a margin, and toy?noise=x has none; --stl FORMULA gives it one"
    );
    assert!(Hunt::new(by, &spec(Strategy::Random)).is_ok());
}

#[test]
fn the_page_shows_the_strategies_and_the_likeliest_failures() {
    let subject = rare(1.0).subject();
    let report = reported(&subject, &request(&[], json!({ "refine": 50 })));
    let by = Experimenter::new(&subject, 1).unwrap();
    let page = page::render(&report, by, Path::new("runs/stress")).unwrap();
    assert!(page.contains("offnominal render runs&#x2f;stress --number 0"), "{page}");
    assert!(page.contains("command push: noise"), "{page}");
    // Three failures of each of two strategies.
    assert_eq!(page.matches("<h3>Failure").count(), 6);
}
