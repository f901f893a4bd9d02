//! The audit from beginning to end.

use crate::depth_choice::DepthChoice;
use crate::document::{self, Audit, FailuresFound, MonitorFound, PolicyFound};
use crate::findings::choice::Choice;
use crate::plan::budget::Planned;
use crate::plan::{self, Basis, Plan, duration};
use crate::request::Request;
use crate::requirement::{self, Requirement};
use crate::stages::{benchmark, failures, monitor, strengths};
use crate::{advice, badge, findings, page, probe};
use anyhow::{Context as _, Result};
use offnominal_bench::results::Results;
use offnominal_engine::alike;
use offnominal_engine::context::Context;
use offnominal_engine::detector_choice::DetectorChoice;
use offnominal_engine::evaluation::{self, Evaluation};
use offnominal_engine::fit::FittedMonitor;
use offnominal_engine::provenance;
use offnominal_engine::strengths::Strength;
use offnominal_engine::subject::Subject;
use offnominal_files::lock::Lock;
use offnominal_files::write::atomically;
use serde::Serialize;
use std::fmt::{self, Display, Formatter};
use std::path::{Path, PathBuf};
use std::time::Instant;

/// An audit with its files.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Audited {
    /// What was found.
    pub audit: Audit,
    /// The page.
    #[serde(skip)]
    pub page: PathBuf,
    /// Wall time of this call in seconds, and what was planned.
    #[serde(skip)]
    pub secs: [f64; 2],
}

/// What the stages found.
struct StageResults {
    evaluation: Evaluation,
    strengths: Vec<Strength>,
    results: Results,
    monitor: FittedMonitor,
    choice: Choice,
    failures: failures::FailureFindings,
}

/// Audits a policy; what is finished in the output folder is not done again.
///
/// # Errors
/// If environment or policy cannot be had, an episode cannot be repeated or has no outcome, not even the least depth fits
/// the budget, a file cannot be written, or the work was asked to stop.
pub fn run(request: &Request, context: &Context) -> Result<Audited> {
    let begun = Instant::now();
    request.check()?;
    let required = request.require.as_deref().map(requirement::parse).transpose()?.unwrap_or_default();
    let _held = Lock::folder(&request.out)?;
    let subject = Subject::new(&request.env, &request.policy)?;
    subject.knows_failure()?;
    alike::refuse(alike::copies(&subject, context)?)?;
    let plan = planned(request, &required, &subject, context)?;
    let command = request.command(&context.command, &plan.recorded(&required));
    let context = &Context { command, ..context.clone() };
    let found = stages(request, &plan, &subject, context)?;
    let mut audit = assembled(context.command.clone(), &plan, &subject, found);
    audit.requirements = required.iter().map(|one| one.judge(&audit)).collect();
    audit.advice = advice::of(&audit);
    let page = save(&audit, &plan, &request.out)?;
    Ok(Audited { audit, page, secs: [begun.elapsed().as_secs_f64(), plan.secs()] })
}

/// The plan in the output folder, or a new one after a first look. Says what it cannot show before anything is done.
fn planned(
    request: &Request,
    required: &[Requirement],
    subject: &Subject,
    context: &Context,
) -> Result<Plan> {
    let probe = probe::probe(subject, context)?;
    let (name, spec) = (&subject.name, subject.env.spec());
    let hosted = provenance::hosted(spec).map_or(String::new(), |found| format!(" in {found}"));
    let policy = format!("{} (SHA-256 {}){hosted}", name.label(), name.digest);
    let basis = Basis { policy: &policy, spec, probe: &probe, seed: context.seed, jobs: context.jobs };
    let Planned { plan, more } = Planned::new(request, required, &basis)?;
    let plan = plan::kept(&request.out, plan, request.depth.as_ref())?;
    context.note(&plan.to_string());
    let lacking = plan.lacking(required);
    let more = more.iter().filter(|_| !lacking.is_empty());
    lacking.iter().chain(more).for_each(|line| context.note(line));
    Ok(plan)
}

fn stages(request: &Request, plan: &Plan, subject: &Subject, context: &Context) -> Result<StageResults> {
    let (env, policy, spec) = (subject.env.as_ref(), subject.policy.as_ref(), subject.env.spec());
    let (evaluation, [diverged, _]) =
        evaluation::evaluate(env, policy, plan.counts.evaluation, context).context("evaluation")?;
    diverged.at_most(context.allow_diverged).context("evaluation")?;
    let strengths = strengths::run(request, plan, context).context("strengths of the faults")?;
    let results = benchmark::run(request, plan, (&strengths, spec), context).context("detectors")?;
    let choices = plan.choices()?;
    let names: Vec<String> = choices.iter().map(|choice| choice.name.clone()).collect();
    let choice = Choice::of(&results, &names, &default_detector(), plan.alpha);
    let chosen = choices.into_iter().find(|one| one.name == choice.recommended);
    let chosen = chosen.unwrap_or_else(|| DetectorChoice::named("default"));
    let monitor = monitor::run(request, plan, &chosen, context).context("monitor")?;
    let failures = failures::run(request, plan, subject, context).context("failures")?;
    Ok(StageResults { evaluation, strengths, results, monitor, choice, failures })
}

fn default_detector() -> String {
    DetectorChoice::named("default").name
}

/// The document, but for requirements and advice, which read it.
fn assembled(command: String, plan: &Plan, subject: &Subject, found: StageResults) -> Audit {
    let StageResults { evaluation, strengths, results, monitor, choice, failures } = found;
    let recommended = choice.recommended.clone();
    let spec = subject.env.spec();
    let names: Vec<String> =
        plan.choices().unwrap_or_default().into_iter().map(|choice| choice.name).collect();
    let detectors = findings::detectors(&results, &names, &recommended);
    let realised = detectors.iter().find(|d| d.name == recommended).and_then(|d| d.false_alarm_rate);
    let about = &monitor.monitor;
    Audit {
        format: document::FORMAT,
        env: spec.id.clone(),
        policy: PolicyFound::of(subject.name.label(), subject.name.digest.clone(), evaluation),
        depth: plan.depth,
        counts: plan.counts,
        faults_tried: [plan.anomalies.len(), plan.anomalies.len() + plan.untried.len()],
        alpha: plan.alpha,
        faults: findings::faults(&results, &strengths, &recommended, spec),
        channels: findings::channels(&results, &strengths, &recommended, spec),
        in_deviations: findings::in_deviations(&results, &plan.anomalies, &recommended),
        monitor: MonitorFound {
            file: monitor::FILE.into(),
            detector: about.detector.id.clone(),
            train_episodes: about.train_episodes as u64,
            calibration_episodes: about.threshold.episodes as u64,
            promised: plan.alpha,
            realised,
        },
        failures: FailuresFound::of(failures, failures::FOLDER, spec.success.clone()),
        detectors,
        choice,
        advice: vec![],
        left_out: plan.left_out.clone(),
        requirements: vec![],
        made: provenance::made(&command, plan.seed, command.as_bytes(), &[spec], &[&subject.name]),
    }
}

/// Writes the result, the badge and the page, and returns the path of the page.
fn save(audit: &Audit, plan: &Plan, folder: &Path) -> Result<PathBuf> {
    let text = serde_json::to_string_pretty(audit)? + "\n";
    atomically(&folder.join(document::FILE), text.as_bytes())?;
    let [svg, json] = badge::FILES.map(|file| folder.join(file));
    atomically(&svg, badge::svg(audit).as_bytes())?;
    atomically(&json, format!("{:#}\n", badge::json(audit)).as_bytes())?;
    let path = folder.join(page::FILE);
    atomically(&path, page::page(audit, plan, folder)?.as_bytes())?;
    Ok(path)
}

impl Audited {
    /// Whether all requirements are met.
    pub fn is_acceptable(&self) -> bool {
        self.audit.requirements.iter().all(|r| r.met)
    }
}

impl Display for Audited {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let (audit, [secs, planned]) = (&self.audit, self.secs);
        let depth = DepthChoice::of(audit.depth, &audit.counts);
        writeln!(
            out,
            "{} in {}, depth {depth}, {} (planned {})",
            audit.policy.name,
            audit.env,
            duration(secs),
            duration(planned)
        )?;
        writeln!(out, "{}", badge::message(audit))?;
        audit.made.conditions().try_for_each(|(_, said)| writeln!(out, "{said}"))?;
        for line in &audit.advice {
            writeln!(out, "- {line}")?;
        }
        for judged in audit.requirements.iter().filter(|judged| judged.met) {
            writeln!(out, "{}: met, found {}", judged.requirement, judged.shown())?;
        }
        write!(out, "{}", self.page.display())
    }
}
