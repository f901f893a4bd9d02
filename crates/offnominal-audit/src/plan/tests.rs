//! Tests of plans.

use super::budget::Planned;
use super::*;
use crate::request::Secs;
use crate::requirement;
use offnominal_engine::subject::Subject;
use offnominal_worlds::anomaly::Deviations;

/// A first look at episodes that take so long, none of which failed.
pub(crate) fn tests_probe(episode_secs: f64) -> Probe {
    Probe {
        episodes: 24,
        steps: 100.0,
        episode_secs,
        returns: [1.0, 0.1],
        deviations: Deviations::default(),
        failed: 0,
        timed_out: 24,
        obs_width: 4,
        act_width: 2,
    }
}

fn basis_of<'a>(subject: &'a Subject, probe: &'a Probe) -> Basis<'a> {
    Basis { policy: "random", spec: subject.env.spec(), probe, seed: 1, jobs: 2 }
}

fn planned(request: &Request, require: &str, episode_secs: f64) -> Result<Planned> {
    let subject = Subject::new("sap-goal0", "random").unwrap();
    let probe = tests_probe(episode_secs);
    let basis = basis_of(&subject, &probe);
    let required = if require.is_empty() { vec![] } else { requirement::parse(require)? };
    Planned::new(request, &required, &basis)
}

fn plan(request: &Request, episode_secs: f64) -> Result<Plan> {
    Ok(planned(request, "", episode_secs)?.plan)
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
    assert_eq!(
        plan(&Request { depth: Some(DepthChoice::plain(Depth::Quick)), ..request() }, 9.0).unwrap().depth,
        Depth::Quick
    );
}

#[test]
fn dear_detectors_are_left_out_before_the_depth_is() {
    let subject = Subject::new("sap-goal0", "random").unwrap();
    let at = |secs| plan(&Request { budget: Secs(secs), ..request() }, 1e-4).unwrap();
    let rich = Plan::at(Depth::Thorough, 0, &request(), &basis_of(&subject, &tests_probe(1e-4))).unwrap();
    let poor = at(rich.secs() - 1.0);
    assert_eq!((rich.depth, poor.depth), (Depth::Thorough, Depth::Thorough));
    assert!(rich.detectors.contains(&"pe-dm".into()) && !poor.detectors.contains(&"pe-dm".into()));
    assert!(poor.left_out[0].contains("were not tried: pe-dm"), "{:?}", poor.left_out);
    let asked = Request {
        detectors: vec![DetectorChoice::named("pe-dm")],
        depth: Some(DepthChoice::plain(Depth::Glance)),
        ..request()
    };
    assert!(plan(&asked, 1e-4).unwrap().detectors.contains(&"pe-dm".into()));
}

#[test]
fn a_budget_that_is_too_small_is_refused_with_one_that_is_not() {
    let error = plan(&Request { budget: Secs(60.0), ..request() }, 1.0).unwrap_err();
    let text = error.to_string();
    assert!(text.contains("takes about") && text.contains("found 60 s; give --budget"), "{text}");
}

#[test]
fn what_a_requirement_needs_is_counted_and_what_it_names_is_tried() {
    let require = "auroc_matched(medium) >= .8, risk <= 1e-2";
    let found = planned(&Request { budget: Secs(400.0), ..request() }, require, 0.2).unwrap().plan;
    assert!(found.counts.failures >= 368 && found.secs() <= 400.0, "{found}");
    assert_eq!((found.depth, found.strengths.join(" ")), (Depth::Glance, "tiny medium strong".to_string()));
    assert!(found.lacking(&requirement::parse(require).unwrap()).is_empty());
    // A depth that is asked for counts as much, and what somebody states is what is done.
    let at = |depth: &str| Request { depth: Some(depth.parse().unwrap()), ..request() };
    let of = |depth| planned(&at(depth), require, 9.0).unwrap().plan;
    assert_eq!(of("glance").counts.failures, 368);
    let fewer = of("glance,failures=60");
    assert_eq!(fewer.counts.failures, 60);
    let lacking = fewer.lacking(&requirement::parse(require).unwrap()).concat();
    assert!(lacking.contains("it needs 368 episodes without a failure, planned are 60"), "{lacking}");
}

#[test]
fn what_the_budget_cannot_show_is_said_with_one_that_can() {
    let found =
        planned(&Request { budget: Secs(400.0), ..request() }, "risk <= 1e-4, success >= .9", 0.2).unwrap();
    let lacking = found.plan.lacking(&requirement::parse("risk <= 1e-4, success >= .9").unwrap());
    assert!(lacking.len() == 1 && lacking[0].contains("it needs 36887 episodes"), "{lacking:?}");
    // Its recorded command counts no more than it did.
    let required = requirement::parse("risk <= 1e-4, success >= .9").unwrap();
    let recorded = Request { depth: Some(found.plan.recorded(&required)), ..request() };
    let again = planned(&recorded, "risk <= 1e-4, success >= .9", 0.2).unwrap().plan;
    assert_eq!(again.counts, found.plan.counts);
    // A plan that was kept and does not try a strength says so.
    let untried = requirement::parse("auroc_matched(extreme) >= .8").unwrap();
    let lacking = found.plan.lacking(&untried).concat();
    assert!(lacking.contains("tries tiny, strong; another --out"), "{lacking}");
    let minutes: f64 = found.more[0]
        .strip_prefix("--budget ")
        .and_then(|text| text.split('m').next())
        .and_then(|number| number.parse().ok())
        .unwrap_or_else(|| panic!("{:?}", found.more));
    let again = planned(&Request { budget: Secs(60.0 * minutes), ..request() }, "risk <= 1e-4", 0.2).unwrap();
    assert!(again.more.is_empty() && again.plan.counts.failures >= 36_887, "{}", again.plan);
}

#[test]
fn the_rest_of_the_budget_narrows_what_is_required() {
    let roomy = |require| planned(&Request { budget: Secs(2000.0), ..request() }, require, 0.2).unwrap().plan;
    let (plain, risky) = (roomy(""), roomy("risk <= .05"));
    let own = plain.depth.effort().counts;
    assert!(plain.counts.test > own.test && plain.counts.failures == own.failures, "{plain}");
    assert!(risky.counts.test == own.test && risky.counts.failures > own.failures, "{risky}");
    assert!(plain.secs() <= 2000.0 && risky.secs() <= 2000.0);
    // The command that is recorded makes the same plan.
    let again = Request { depth: Some(plain.depth_choice()), ..request() };
    assert_eq!(planned(&again, "", 0.2).unwrap().plan.counts, plain.counts);
}

#[test]
fn what_is_left_out_is_said() {
    let plan = plan(&Request { depth: Some(DepthChoice::plain(Depth::Glance)), ..request() }, 0.01).unwrap();
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
    let slower = Plan { depth: Depth::Quick, counts: Depth::Quick.effort().counts, ..made(1) };
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
