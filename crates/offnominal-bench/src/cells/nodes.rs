//! How a plan becomes cells.

use crate::campaign::{Plan, Setting, Stage};
use crate::cells::cell::{Anomalous, Cell, Detecting, Diagnosing, Judgement, Nominal, Role, Setup, Video};
use anyhow::Result;
use offnominal_engine::detector_choice::DetectorChoice;
use offnominal_engine::images::networks;
use offnominal_files::store::address;

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
    let mut nodes = Vec::new();
    for (at, stage) in plan.stages.iter().enumerate() {
        for seed in plan.seeds() {
            let mut add = |cell: Cell| {
                let spec = serde_json::to_string(&cell)?;
                let id = address(spec.as_bytes());
                nodes.push(Node { id: id.clone(), spec, cell, stage: at });
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
    let setup = setup(stage, seed)?;
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
        plan.detectors().iter().find(|choice| Some(&choice.name) == plan.campaign.diagnosis.as_ref());
    if let Some(choice) = diagnosed {
        add(Cell::Diagnosis(diagnosing(&base, choice)))?;
    }
    // The catalogue lists baselines first and ensembles last: whatever takes long begins early.
    for choice in plan.detectors().iter().rev() {
        add(Cell::Judgement(Judgement { detector: detecting(choice), ..base.clone() }))?;
    }
    Ok(())
}

fn diagnosing(base: &Judgement, choice: &DetectorChoice) -> Diagnosing {
    Diagnosing {
        setup: base.setup.clone(),
        detector: detecting(choice),
        train: base.train.clone(),
        validation: base.validation.clone(),
        settings: base.settings.clone(),
        false_alarms: base.false_alarms,
        faults: offnominal_engine::fit::faults() as usize,
    }
}

/// The nominal episodes, and what the judgements of all detectors have in context.
fn base(plan: &Plan, setup: Setup, add: &mut impl FnMut(Cell) -> Result<String>) -> Result<Judgement> {
    let campaign = &plan.campaign;
    let counts = campaign.episodes;
    let mut nominal = |role, episodes| add(Cell::Nominal(Nominal { setup: setup.clone(), role, episodes }));
    Ok(Judgement {
        train: nominal(Role::Train, counts.train)?,
        validation: nominal(Role::Validation, counts.validation)?,
        twins: nominal(Role::Test, counts.test)?,
        control: nominal(Role::Control, counts.test)?,
        setup,
        detector: detecting(&plan.detectors()[0]),
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

fn setup(stage: &Stage, seed: u64) -> Result<Setup> {
    let spec = stage.subject.env.spec();
    Ok(Setup {
        engine: env!("CARGO_PKG_VERSION").into(),
        env: spec.id.clone(),
        environment: address(&serde_json::to_vec(spec)?),
        policy: stage.subject.name.portable(),
        seed,
    })
}

fn detecting(choice: &DetectorChoice) -> Detecting {
    let DetectorChoice { id, name, params } = choice.clone();
    Detecting { preset: networks::preset(&id, &params), id, name, params }
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
    use serde_json::json;

    #[test]
    fn a_specification_has_the_values_of_networks_and_of_nothing_else() {
        let of = |id: &str| {
            let (id, name) = (id.to_string(), id.to_string());
            json!(detecting(&DetectorChoice { id, name, params: json!({}) }))
        };
        assert_eq!(of("knn"), json!({ "id": "knn", "name": "knn", "params": {} }));
        assert_eq!(of("ldm").get("preset").is_some(), cfg!(feature = "deep"));
    }
}
