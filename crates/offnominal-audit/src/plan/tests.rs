//! Tests of plans.

use super::*;
use crate::request::Secs;
use offnominal_engine::subject::Subject;

fn probe(episode_secs: f64) -> Probe {
    Probe { episodes: 24, steps: 100.0, episode_secs, failed: 0, timed_out: 24, obs_width: 4, act_width: 2 }
}

fn plan(request: &Request, episode_secs: f64) -> Result<Plan> {
    let subject = Subject::new("sap-goal0", "random").unwrap();
    let basis =
        Basis { policy: "random", spec: subject.env.spec(), probe: &probe(episode_secs), seed: 1, jobs: 2 };
    Plan::new(request, &basis)
}

/// What is asked for if nothing is.
fn request() -> Request {
    offnominal_work::cli::request(&serde_json::json!({ "env": "sap-goal0", "policy": "random" })).unwrap()
}

#[test]
fn the_depth_follows_the_budget() {
    let within = |secs| Request { budget: Secs(secs), ..request() };
    let at = |secs, episode_secs| plan(&within(secs), episode_secs).unwrap().depth;
    assert_eq!(at(1e5, 1e-4), Depth::Thorough);
    assert_eq!(at(400.0, 0.3), Depth::Glance);
    assert_eq!(plan(&Request { depth: Some(Depth::Quick), ..request() }, 9.0).unwrap().depth, Depth::Quick);
}

#[test]
fn dear_detectors_are_left_out_before_the_depth_is() {
    let at = |secs| plan(&Request { budget: Secs(secs), ..request() }, 1e-4).unwrap();
    let rich = at(10_000.0);
    let poor = at(rich.secs() - 1.0);
    assert_eq!((rich.depth, poor.depth), (Depth::Thorough, Depth::Thorough));
    assert!(rich.detectors.contains(&"pe-dm".into()) && !poor.detectors.contains(&"pe-dm".into()));
    assert!(poor.left_out[0].contains("were not tried: pe-dm"), "{:?}", poor.left_out);
    let asked =
        Request { detectors: vec![DetectorChoice::named("pe-dm")], depth: Some(Depth::Glance), ..request() };
    assert!(plan(&asked, 1e-4).unwrap().detectors.contains(&"pe-dm".into()));
}

#[test]
fn a_budget_that_is_too_small_is_refused_with_one_that_is_not() {
    let error = plan(&Request { budget: Secs(60.0), ..request() }, 1.0).unwrap_err();
    let text = error.to_string();
    assert!(text.contains("takes about") && text.contains("found 60 s; give --budget"), "{text}");
}

#[test]
fn what_is_left_out_is_said() {
    let plan = plan(&Request { depth: Some(Depth::Glance), ..request() }, 0.01).unwrap();
    let text = plan.left_out.concat();
    assert!(
        text.contains("obs-noise") && text.contains("tiny and strong") && text.contains("too rare"),
        "{text}"
    );
}

#[test]
fn a_promise_of_few_alarms_needs_more_episodes() {
    let plan = plan(&Request { alpha: 0.005, ..request() }, 1e-4).unwrap();
    assert!(plan.validation >= 199, "{}", plan.validation);
}

#[test]
fn a_plan_is_kept_and_that_of_another_audit_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let made = |seed| Plan { seed, ..plan(&request(), 1e-4).unwrap() };
    let first = kept(folder.path(), made(1), None).unwrap();
    let slower = Plan { depth: Depth::Quick, ..made(1) };
    assert_eq!(kept(folder.path(), slower, None).unwrap(), first);
    let error = kept(folder.path(), made(2), None).unwrap_err().to_string();
    assert!(error.contains("at seed 2") && error.contains("another audit needs another --out"), "{error}");
}

#[test]
fn durations_are_words() {
    assert_eq!([40.2, 180.0, 4800.0, 7200.0].map(duration), ["40 s", "3 min", "80 min", "2 h 0 min"]);
}

/// A plan for the tests of pages.
pub(crate) fn tests_plan() -> Plan {
    plan(&request(), 1e-3).unwrap()
}
