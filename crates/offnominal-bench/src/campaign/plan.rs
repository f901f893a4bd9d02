//! A campaign expanded: for each environment, policy and repetition the episodes to play and the detectors to judge.

use crate::campaign::choice::class;
use crate::campaign::{Anomalies, AnomalyChoice, Campaign, CampaignDetector, MagnitudeChoice, names};
use anyhow::{Context, Result, ensure};
use offnominal_core::anomaly_spec::DYNAMICS;
use offnominal_core::prelude::*;
use offnominal_core::suggest::did_you_mean;
use offnominal_engine::anomaly_request::check_onset;
use offnominal_engine::strengths::{self, Status};
use offnominal_engine::subject::Subject;
use offnominal_engine::{catalogues, frames};
use offnominal_files::dataset::PolicyName;
use offnominal_worlds::anomaly::camera_ids_for;
use serde::{Deserialize, Serialize};
use serde_json::{Number, Value, json};
use std::collections::{BTreeMap, HashSet};

/// Everything that a campaign asks for.
pub struct Plan {
    /// The campaign.
    pub campaign: Campaign,
    /// One per environment and policy.
    pub stages: Vec<Stage>,
}

/// An environment with a policy, and what is done to them.
pub struct Stage {
    /// Environment and policy.
    pub subject: Subject,
    /// The other policies on which detectors are fitted, by the names that the campaign has for them.
    pub others: BTreeMap<String, Subject>,
    /// The anomalies with their strengths.
    pub settings: Vec<Setting>,
    /// What was asked for but cannot be done, each with the reason.
    pub excluded: Vec<Excluded>,
}

/// An anomaly at a strength.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Setting {
    /// `observation`, `action`, `dynamics`, `camera` or `own`.
    pub class: String,
    /// Anomaly id.
    pub anomaly: String,
    /// Strength level, or `custom`.
    pub strength: String,
    /// Its magnitude.
    pub magnitude: f64,
    /// What is done to each episode.
    pub anomaly_spec: AnomalySpec,
}

/// An anomaly at a strength that has no usable magnitude.
#[derive(Debug, Clone, PartialEq)]
pub struct Excluded {
    /// Class of the anomaly.
    pub class: String,
    /// Anomaly id.
    pub anomaly: String,
    /// Strength level.
    pub strength: String,
    /// Why.
    pub status: Status,
}

impl Plan {
    /// Expands a campaign; `text` is its file, to name lines in errors.
    ///
    /// # Errors
    /// If a policy, an anomaly or a calibrated strength cannot be had.
    pub fn new(campaign: Campaign, text: &str) -> Result<Plan> {
        Plan::with(campaign, text, Subject::new)
    }

    /// Expands a campaign of which `subject` finds each environment and policy; for programs that bring policies of
    /// their own.
    ///
    /// # Errors
    /// As [`Plan::new`].
    pub fn with(
        campaign: Campaign,
        text: &str,
        subject: impl Fn(&str, &str) -> Result<Subject>,
    ) -> Result<Plan> {
        let mut stages = Vec::new();
        for env in &campaign.envs {
            for policy in &campaign.policies {
                let others = others(&campaign, |policy| subject(env, policy))?;
                stages.push(stage(&campaign, subject(env, policy)?, others, text)?);
            }
        }
        Ok(Plan { campaign, stages })
    }

    /// The repetitions.
    pub fn seeds(&self) -> impl Iterator<Item = u64> + use<> {
        let first = self.campaign.seed;
        (0..self.campaign.seeds).map(move |k| first.wrapping_add(k))
    }

    /// The detectors.
    pub fn detectors(&self) -> &[CampaignDetector] {
        &self.campaign.detectors
    }
}

/// The policies on which the detectors of a campaign are fitted, if not on the one that acts.
fn others(
    campaign: &Campaign,
    subject: impl Fn(&str) -> Result<Subject>,
) -> Result<BTreeMap<String, Subject>> {
    let mut others = BTreeMap::new();
    for policy in campaign.detectors.iter().filter_map(|detector| detector.fitted_on.as_ref()) {
        if !others.contains_key(policy) {
            others.insert(policy.clone(), subject(policy)?);
        }
    }
    Ok(others)
}

impl Stage {
    /// The detectors that are judged here, each with the other policy on which it is fitted, if it is another one.
    /// One that is fitted on the policy that acts, by the name of that policy, is none of them: it stands in the campaign
    /// for the other policies, and beside it the same detector without a policy.
    pub fn judged<'a>(
        &'a self,
        detectors: &'a [CampaignDetector],
    ) -> impl DoubleEndedIterator<Item = (&'a CampaignDetector, Option<&'a Subject>)> {
        let fitted_on = |detector: &'a CampaignDetector| Some(&self.others[detector.fitted_on.as_ref()?]);
        let all = detectors.iter().map(move |detector| (detector, fitted_on(detector)));
        all.filter(|(_, other)| other.is_none_or(|other| other.name != self.subject.name))
    }

    /// Environment and policy that play a nominal cell.
    pub fn playing(&self, policy: &PolicyName) -> &Subject {
        let others = self.others.values();
        others.into_iter().find(|other| other.name.portable() == *policy).unwrap_or(&self.subject)
    }
}

fn stage(
    campaign: &Campaign,
    subject: Subject,
    others: BTreeMap<String, Subject>,
    text: &str,
) -> Result<Stage> {
    let spec = subject.env.spec();
    check_onset(campaign.onset.0, &spec.id, spec.horizon)
        .with_context(|| format!("{}: onset", names::at_key(text, "onset")))?;
    if campaign.images.is_some() {
        frames::check(subject.env.spec())?;
    }
    let (mut settings, mut excluded) = (Vec::new(), Vec::new());
    let asked = (&campaign.anomalies, campaign.images.is_some());
    for choice in resolved(asked, subject.env.spec(), text)? {
        match &choice.magnitude {
            MagnitudeChoice::Fixed { magnitude, strength } => {
                settings.push(setting(campaign, &choice, strength, magnitude.clone()));
            }
            MagnitudeChoice::Calibrated => {
                calibrated(campaign, &subject, (&choice, &choice.id), &mut settings, &mut excluded)?;
            }
            MagnitudeChoice::CalibratedFor(other) => {
                calibrated(campaign, &subject, (&choice, other), &mut settings, &mut excluded)?;
            }
        }
    }
    let mut seen = HashSet::new();
    for setting in &settings {
        let (anomaly, strength) = (&setting.anomaly, &setting.strength);
        ensure!(
            seen.insert((anomaly, strength)),
            "{}: expected each anomaly once at each strength, found {anomaly} twice at {strength} \
             (an anomaly may be given a `name`, and with a magnitude another `strength`)",
            names::at(text, anomaly)
        );
        let built = setting.anomaly_spec.build(&catalogues::anomalies(), subject.env.as_ref());
        built.with_context(|| {
            let env = &subject.env.spec().id;
            format!("{}: {} in {env}", names::at(text, &setting.anomaly), setting.anomaly)
        })?;
    }
    Ok(Stage { subject, others, settings, excluded })
}

/// The choices with patterns replaced by the ids that exist in the environment; an id that two patterns meet counts once,
/// and one that is named itself is what its own entry says, not what a pattern says.
fn resolved((anomalies, sees): (&Anomalies, bool), spec: &EnvSpec, text: &str) -> Result<Vec<AnomalyChoice>> {
    let mut known = catalogues::anomaly_ids(spec);
    if !sees {
        let cameras = camera_ids_for(spec);
        known.retain(|id| !cameras.contains(id));
    }
    let all = [AnomalyChoice::calibrated("*")];
    let choices = match anomalies {
        Anomalies::All => &all[..],
        Anomalies::List(list) => list,
    };
    // One with a name of its own in results takes nothing from a pattern.
    let named: HashSet<&str> =
        choices.iter().filter(|choice| choice.name.is_none()).map(|choice| &*choice.id).collect();
    let mut found: Vec<AnomalyChoice> = Vec::new();
    for choice in choices {
        let mut ids = matching(&choice.id, &known, spec, text)?;
        ids.retain(|id| *id == choice.id || !named.contains(id.as_str()));
        let new = ids.into_iter().map(|id| AnomalyChoice { id, ..choice.clone() });
        let new: Vec<_> = new.filter(|choice| !found.contains(choice)).collect();
        found.extend(new);
    }
    Ok(found)
}

fn matching(pattern: &str, known: &[String], spec: &EnvSpec, text: &str) -> Result<Vec<String>> {
    let fits = |id: &&String| match pattern.strip_suffix('*') {
        None => *id == pattern,
        Some(start) => id.starts_with(start) && !is_seen_only(id, spec),
    };
    let found: Vec<String> = known.iter().filter(fits).cloned().collect();
    let hint = || did_you_mean(pattern, known.iter().map(String::as_str));
    ensure!(
        !found.is_empty(),
        "{}: no anomaly of {} is called {pattern:?}{}; there are: {}",
        names::at(text, pattern),
        spec.id,
        hint(),
        known.join(", ")
    );
    Ok(found)
}

/// Whether an anomaly is of a parameter that nothing but cameras shows: whoever wants it names it.
fn is_seen_only(id: &str, spec: &EnvSpec) -> bool {
    let name = id.strip_prefix(DYNAMICS);
    name.is_some_and(|name| spec.parameters.iter().any(|p| p.name == name && p.is_seen_only))
}

/// An anomaly at a magnitude.
fn setting(campaign: &Campaign, choice: &AnomalyChoice, strength: &str, magnitude: Number) -> Setting {
    let value = magnitude.as_f64().unwrap_or(f64::NAN);
    let mut params = choice.params.clone();
    params.insert("magnitude".into(), Value::Number(magnitude));
    let params = if choice.with.is_empty() {
        Value::Object(params)
    } else {
        let others = choice.with.iter().map(|(_, magnitude)| json!({ "magnitude": magnitude }));
        std::iter::once(Value::Object(params)).chain(others).collect()
    };
    let schedule = campaign.schedule();
    let schedule = Schedule { extent: choice.extent.unwrap_or(schedule.extent), ..schedule };
    Setting {
        class: class(&choice.id).into(),
        anomaly: choice.called(),
        strength: strength.into(),
        magnitude: value,
        anomaly_spec: AnomalySpec { anomaly: choice.ids(), params, schedule },
    }
}

/// An anomaly at each of the campaign's strengths, with the magnitudes calibrated for the id that stands beside it.
fn calibrated(
    campaign: &Campaign,
    subject: &Subject,
    (choice, id): (&AnomalyChoice, &str),
    settings: &mut Vec<Setting>,
    excluded: &mut Vec<Excluded>,
) -> Result<()> {
    let calibrated_for = &campaign.strengths_of.clone().unwrap_or_else(|| subject.name.label());
    let from = campaign.strengths_file.as_deref();
    for level in &campaign.strengths {
        let row = strengths::lookup(&subject.env.spec().id, calibrated_for, id, level, from)?;
        match row.magnitude.filter(|_| row.status == Status::Found).and_then(Number::from_f64) {
            Some(magnitude) => settings.push(setting(campaign, choice, level, magnitude)),
            None => excluded.push(Excluded {
                class: class(&choice.id).into(),
                anomaly: choice.called(),
                strength: level.clone(),
                status: row.status,
            }),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::campaign::tests::SMALL;

    fn plan(anomalies: &str) -> Result<Plan> {
        let listed = SMALL.lines().find(|l| l.starts_with("anomalies")).unwrap();
        let text = SMALL.replace(listed, anomalies);
        Plan::new(Campaign::parse(&text)?, &text)
    }

    #[track_caller]
    fn refuses(anomalies: &str, want: &str) {
        let error = format!("{:#}", plan(anomalies).err().unwrap());
        assert!(error.contains(want), "{error}");
    }

    #[test]
    fn an_onset_after_the_end_of_the_environment_is_refused() {
        let with = |onset: u32| SMALL.replace("video = false", &format!("onset = {onset}"));
        let planned = |onset: u32| Plan::new(Campaign::parse(&with(onset)).unwrap(), &with(onset));
        let horizon = planned(0).unwrap().stages[0].subject.env.spec().horizon;
        assert!(planned(horizon - 1).is_ok());
        let error = format!("{:#}", planned(horizon).err().unwrap());
        let want =
            format!("line 8: onset: expected a step before {horizon}, where episodes of sap-goal1 end");
        assert!(error.contains(&want), "{error}");
    }

    #[test]
    fn custom_magnitudes_need_no_calibration() {
        let plan = plan("anomalies = [{ id = \"dyn-*\", magnitude = 0.75 }]").unwrap();
        let found: Vec<_> =
            plan.stages[0].settings.iter().map(|s| (&*s.anomaly, &*s.class, &*s.strength)).collect();
        assert_eq!(found[0], ("dyn-mass", "dynamics", "custom"));
        assert!(found.len() > 1 && found.iter().all(|s| s.0.starts_with("dyn-")));
    }

    #[test]
    fn others_act_with_an_anomaly() {
        let one = "{ id = \"obs-offset\", magnitude = 0.5, channels = [0], with = { act-delay = 3 } }";
        let plan = plan(&format!("anomalies = [{one}]")).unwrap();
        let setting = &plan.stages[0].settings[0];
        assert_eq!((&*setting.anomaly, setting.magnitude), ("obs-offset+act-delay", 0.5));
        let want = json!([{ "channels": [0], "magnitude": 0.5 }, { "magnitude": 3 }]);
        assert_eq!(setting.anomaly_spec.params, want);
        refuses(&format!("anomalies = [{}]", one.replace("act-delay", "act-dela")), "\"act-delay\"?");
        refuses(
            &format!("anomalies = [{}]", one.replace("= 3", "= \"3\"")),
            "`with` as a table of ids and finite",
        );
    }

    #[test]
    fn an_anomaly_that_is_named_is_not_also_taken_from_a_pattern() {
        let list = "anomalies = [{ id = \"dyn-*\", magnitude = 0.75 }, { id = \"dyn-mass\", magnitude = 3 }]";
        let plan = plan(list).unwrap();
        let of_mass = plan.stages[0].settings.iter().filter(|s| s.anomaly == "dyn-mass");
        assert_eq!(of_mass.map(|s| s.magnitude).collect::<Vec<_>>(), [3.0]);
        assert!(plan.stages[0].settings.iter().any(|s| s.magnitude == 0.75));
    }

    #[test]
    fn patterns_leave_out_what_only_cameras_see() {
        let found = |anomalies: &str| -> Vec<String> {
            let listed = SMALL.lines().find(|l| l.starts_with("anomalies")).unwrap();
            let text = SMALL.replace(listed, anomalies).replace("sap-goal1", "car-lanekeep");
            let plan = Plan::new(Campaign::parse(&text).unwrap(), &text).unwrap();
            plan.stages[0].settings.iter().map(|s| s.anomaly.clone()).collect()
        };
        let all = found("anomalies = [{ id = \"dyn-*\", magnitude = 0.5 }]");
        assert_eq!(all, ["dyn-brake-gain", "dyn-steering-gain", "dyn-tyre-friction"]);
        assert_eq!(found("anomalies = [{ id = \"dyn-debris\", magnitude = 0.5 }]"), ["dyn-debris"]);
    }

    #[test]
    fn one_policy_may_meet_the_magnitudes_of_another() {
        let text = SMALL.replace("video = false", "strengths_of = \"tqc\"\nstrengths = [\"tiny\"]");
        let listed = text.lines().find(|l| l.starts_with("anomalies")).unwrap();
        let text = text.replace(listed, "anomalies = [\"act-noise\"]");
        let plan = Plan::new(Campaign::parse(&text).unwrap(), &text).unwrap();
        let calibrated = strengths::magnitude("sap-goal1", "tqc", "act-noise", "tiny", None).unwrap();
        assert_eq!(plan.stages[0].settings[0].magnitude, calibrated);
        assert_eq!(plan.stages[0].subject.name.id, "random");
    }

    #[test]
    fn what_does_not_fit_the_environment_is_refused() {
        refuses(
            "anomalies = [{ id = \"dyn-mas\", magnitude = 1.5 }]",
            "line 7: no anomaly of sap-goal1 is called \"dyn-mas\"; did you mean \"dyn-mass\"?",
        );
        refuses("anomalies = [{ id = \"dyn-mass\", magnitude = -1.5 }]", "expected a value in");
        refuses(
            "anomalies = [{ id = \"obs-noise\", magnitude = 1, channels = [\"x\"] }]",
            "no observation channel \"x\"",
        );
        refuses("anomalies = [\"obs-noise\"]", "no strength of obs-noise for the random policy");
    }
}
