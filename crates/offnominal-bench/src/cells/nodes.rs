//! How a plan becomes cells.

use crate::campaign::CampaignDetector;
use crate::campaign::{Plan, Setting, Stage};
use crate::cells::cell::{Anomalous, Cell, Detecting, Diagnosing, Judgement, Nominal, Role, Setup, Video};
use anyhow::Result;
use offnominal_engine::detector_choice::DetectorChoice;
use offnominal_engine::images::networks;
use offnominal_engine::subject::Subject;
use offnominal_files::store::address;
use std::collections::HashSet;

/// A cell in its place.
#[derive(Debug, Clone)]
pub struct Node {
    /// The digest of the specification.
    pub id: String,
    /// The specification, as JSON.
    pub spec: String,
    /// What to compute.
    pub cell: Cell,
    /// Index of the plan's stage to which it belongs.
    pub stage: usize,
}

/// The cells of a plan, each after those it needs.
pub(super) fn of(plan: &Plan) -> Result<Vec<Node>> {
    let (mut nodes, mut there) = (Vec::new(), HashSet::new());
    for (at, stage) in plan.stages.iter().enumerate() {
        for seed in plan.seeds() {
            let mut add = |cell: Cell| {
                let spec = serde_json::to_string(&cell)?;
                let id = address(spec.as_bytes());
                // Nominal episodes of a policy are also those on which detectors are fitted that watch others.
                if there.insert(id.clone()) {
                    nodes.push(Node { id: id.clone(), spec, cell, stage: at });
                }
                Ok::<_, anyhow::Error>(id)
            };
            repetition(plan, stage, seed, &mut add)?;
        }
    }
    Ok(nodes)
}

/// The cells of one environment, policy and seed.
fn repetition(
    plan: &Plan,
    stage: &Stage,
    seed: u64,
    add: &mut impl FnMut(Cell) -> Result<String>,
) -> Result<()> {
    let setup = setup(&stage.subject, seed)?;
    let base = base(plan, setup.clone(), add)?;
    let mut settings = Vec::new();
    for setting in &stage.settings {
        let (anomaly_spec, twins) = (setting.anomaly_spec.clone(), base.twins.clone());
        let id = add(Cell::Anomalous(Anomalous { setup: setup.clone(), anomaly_spec, twins }))?;
        settings.push((setting.clone(), id));
    }
    let can_be_seen = !stage.subject.env.spec().cameras.is_empty();
    let once = plan.campaign.video && seed == plan.campaign.seed && can_be_seen;
    if let Some((setting, episodes)) = replayed(&settings).filter(|_| once) {
        add(Cell::Video(Video { setup, setting, episodes }))?;
    }
    let base = Judgement { traced: traced(&stage.settings), settings, ..base };
    let diagnosed =
        stage.judged(plan.detectors()).find(|(d, _)| Some(d.name()) == plan.campaign.diagnosis.as_deref());
    if let Some((detector, other)) = diagnosed {
        let fitted = fitted(plan, &base, (detector, other), seed, add)?;
        add(Cell::Diagnosis(diagnosing(fitted)))?;
    }
    // The catalogue lists baselines first and ensembles last: whatever takes long begins early.
    for (detector, other) in stage.judged(plan.detectors()).rev() {
        let judgement = fitted(plan, &base, (detector, other), seed, add)?;
        add(Cell::Judgement(judgement))?;
    }
    Ok(())
}

/// The judgement of a detector: its episodes are those of the policy that acts, or of another one.
fn fitted(
    plan: &Plan,
    base: &Judgement,
    (detector, other): (&CampaignDetector, Option<&Subject>),
    seed: u64,
    add: &mut impl FnMut(Cell) -> Result<String>,
) -> Result<Judgement> {
    let judgement = Judgement { detector: detecting(detector, other), ..base.clone() };
    let Some(other) = other else { return Ok(judgement) };
    let [train, validation] = learnt_from(plan, &setup(other, seed)?, add)?;
    let thresholds = detector.recalibrated.then(|| base.validation.clone());
    Ok(Judgement { train, validation, thresholds, ..judgement })
}

/// The episodes that a detector is fitted on, and those that set its thresholds.
fn learnt_from(
    plan: &Plan,
    setup: &Setup,
    add: &mut impl FnMut(Cell) -> Result<String>,
) -> Result<[String; 2]> {
    let counts = plan.campaign.episodes;
    let mut nominal = |role, episodes| add(Cell::Nominal(Nominal { setup: setup.clone(), role, episodes }));
    Ok([nominal(Role::Train, counts.train)?, nominal(Role::Validation, counts.validation)?])
}

fn diagnosing(judgement: Judgement) -> Diagnosing {
    let Judgement { setup, detector, train, validation, thresholds, settings, false_alarms, .. } = judgement;
    let faults = offnominal_engine::fit::FAULTS;
    Diagnosing { setup, detector, train, validation, thresholds, settings, false_alarms, faults }
}

/// The nominal episodes, and what the judgements of all detectors have in context.
fn base(plan: &Plan, setup: Setup, add: &mut impl FnMut(Cell) -> Result<String>) -> Result<Judgement> {
    let campaign = &plan.campaign;
    let [train, validation] = learnt_from(plan, &setup, add)?;
    let counts = campaign.episodes;
    let mut nominal = |role, episodes| add(Cell::Nominal(Nominal { setup: setup.clone(), role, episodes }));
    Ok(Judgement {
        train,
        validation,
        thresholds: None,
        twins: nominal(Role::Test, counts.test)?,
        control: nominal(Role::Control, counts.test)?,
        setup,
        detector: detecting(&plan.detectors()[0], None),
        schedule: campaign.schedule(),
        settings: vec![],
        false_alarms: campaign.false_alarms,
        replicates: campaign.replicates,
        traces: campaign.traces,
        traced: vec![],
        metrics: offnominal_stats::metric::all().map(|metric| metric.id.into()).collect(),
        frame_size: campaign.frame_size(),
    })
}

fn setup(subject: &Subject, seed: u64) -> Result<Setup> {
    let spec = subject.env.spec();
    Ok(Setup {
        engine: env!("CARGO_PKG_VERSION").into(),
        env: spec.id.clone(),
        environment: address(&serde_json::to_vec(spec)?),
        policy: subject.name.portable(),
        seed,
    })
}

fn detecting(detector: &CampaignDetector, other: Option<&Subject>) -> Detecting {
    let DetectorChoice { id, name, params } = detector.choice.clone();
    let fitted_on = other.map(|other| other.name.portable());
    Detecting { preset: networks::preset(&id, &params), id, name, params, fitted_on }
}

/// The last dynamics anomaly, or the last anomaly at all: strengths rise, and a changed environment is what can be seen.
fn replayed(settings: &[(Setting, String)]) -> Option<(Setting, String)> {
    let dynamics = settings.iter().rfind(|(s, _)| s.class == "dynamics");
    dynamics.or(settings.last()).cloned()
}

/// The strength in the middle of those that occur: neither hopeless nor trivial.
fn traced(settings: &[Setting]) -> Vec<String> {
    let mut strengths: Vec<&String> = Vec::new();
    for setting in settings {
        if !strengths.contains(&&setting.strength) {
            strengths.push(&setting.strength);
        }
    }
    strengths.get(strengths.len() / 2).map(|s| s.to_string()).into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::campaign::Campaign;
    use serde_json::json;

    #[test]
    fn a_specification_has_the_values_of_networks_and_of_nothing_else() {
        let of = |id: &str| {
            let (id, name) = (id.to_string(), id.to_string());
            let choice = DetectorChoice { id, name, params: json!({}) };
            json!(detecting(&CampaignDetector { choice, fitted_on: None, recalibrated: false }, None))
        };
        assert_eq!(of("knn"), json!({ "id": "knn", "name": "knn", "params": {} }));
        assert_eq!(of("ldm").get("preset").is_some(), cfg!(feature = "deep"));
    }

    /// Two policies, of which one gives its episodes to detectors that watch the other.
    const LENT: &str = r#"
name = "lent"
seed = 5
envs = ["sap-goal1"]
policies = ["random", "tqc"]
detectors = [
    "clock",
    { id = "knn", name = "knn(tqc)", fitted_on = "tqc" },
    { id = "knn", name = "knn(tqc) recalibrated", fitted_on = "tqc", recalibrated = true },
]
anomalies = [{ id = "obs-offset", magnitude = 0.5 }]
episodes = { train = 6, validation = 19, test = 5 }
"#;

    #[test]
    fn a_detector_that_is_fitted_on_another_policy_has_its_episodes() {
        let plan = Plan::new(Campaign::parse(LENT).unwrap(), LENT).unwrap();
        let nodes = of(&plan).unwrap();
        let nominal = |policy: &str, role: Role| {
            let is_it = |n: &&Node| matches!(&n.cell, Cell::Nominal(c) if c.setup.policy.id.contains(policy) && c.role == role);
            let found: Vec<&Node> = nodes.iter().filter(is_it).collect();
            assert_eq!(found.len(), 1, "the episodes of a policy are played once");
            found[0].id.clone()
        };
        let judged = |policy: &str| {
            let judgement = |n: &Node| match &n.cell {
                Cell::Judgement(c) if c.setup.policy.id.contains(policy) => Some(c.clone()),
                _ => None,
            };
            nodes.iter().filter_map(judgement).collect::<Vec<Judgement>>()
        };
        let names: Vec<String> = judged("tqc").into_iter().map(|c| c.detector.name).collect();
        assert_eq!(names, ["clock"], "what is fitted on the policy that acts is not judged twice");
        let [recalibrated, other, clock] = &judged("random")[..] else { panic!("three detectors") };
        let own = [nominal("random", Role::Train), nominal("random", Role::Validation)];
        let lent = [nominal("tqc", Role::Train), nominal("tqc", Role::Validation)];
        let learnt = |c: &Judgement| [c.train.clone(), c.validation.clone()];
        assert_eq!([learnt(clock), learnt(other), learnt(recalibrated)], [own.clone(), lent.clone(), lent]);
        let thresholds = [clock, other, recalibrated].map(|c| c.thresholds.clone());
        assert_eq!(thresholds, [None, None, Some(own[1].clone())]);
        assert!([other, recalibrated].iter().all(|c| c.twins == clock.twins && c.settings == clock.settings));
        // The same monitor under both names, and the one that watches its own policy.
        assert_eq!([other, recalibrated].map(|c| c.detector.seed_label()), ["knn", "knn"]);
        for (i, node) in nodes.iter().enumerate() {
            let is_before = |id: &str| nodes[..i].iter().any(|n| n.id == id);
            assert!(node.cell.needs().into_iter().all(is_before), "{}", node.cell);
        }
    }
}
