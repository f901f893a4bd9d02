//! `risk estimate`: how often a policy fails, with an interval, and the kinds of its failures.
//!
//! | file           | content                                                             |
//! |----------------|---------------------------------------------------------------------|
//! | [`block`]      | what a run of experiments is, and what it finds, block by block     |
//! | [`estimation`] | experiments by the thousand                                         |
//! | `chooser`      | which draws become experiments                                      |
//! | `refit`        | how an adaptive run chooses, from what it has found                 |
//! | `scorer`       | how dangerous a draw looks to it                                    |
//! | `guided`       | draws from a density that is fitted to failures                     |
//! | [`ending`]     | when a run may end early                                            |
//! | [`verdict`]    | from experiments to numbers                                         |
//! | [`requirement`] | the same of each of several requirements                           |
//! | `samples`      | the table of all experiments                                        |
//! | [`atlas`]      | the kinds of failures, and their parts of the probability           |
//! | [`answer`]     | an estimate in words, or why there is none                          |
//! | [`document`]   | the result: `risk.json`                                             |
//! | [`multifidelity`] | pairs of episodes in a dear and a cheap environment            |
//! | [`answered`]   | the result, where a cheap environment may have helped               |
//! | `page`         | the result as a page                                                |

pub mod answer;
pub mod answered;
pub mod atlas;
pub mod block;
mod chooser;
pub mod document;
pub mod ending;
pub mod estimation;
mod guided;
pub mod multifidelity;
pub(crate) mod page;
mod refit;
pub mod requirement;
mod samples;
mod scorer;
pub mod verdict;

use crate::experimenter::Experimenter;
use crate::guide::Guide;
use crate::request::{self, LEVEL, positive, within};
use answer::{Answer, probability};
use answered::Answered;
use anyhow::{Context as _, Result, ensure};
use atlas::Atlas;
use clap::Args;
use document::{Counting, Document};
use ending::Ending;
use estimation::{Estimation, Proposal};
use offnominal_engine::anomaly_request::AnomalyRequest;
use offnominal_engine::context::Context;
use offnominal_engine::provenance;
use offnominal_engine::request::{EnvId, POLICY};
use offnominal_engine::scenario::ScenarioRequest;
use offnominal_engine::subject::Subject;
use offnominal_files::lock::Lock;
use offnominal_files::{table, write};
use offnominal_stats::Level;
use offnominal_stats::risk::PLAIN_SHARE;
use offnominal_work::cli::{one_of, word_of};
use requirement::Requirements;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use strum::{EnumMessage, EnumString, IntoStaticStr, VariantArray};

/// Whose failures are counted, and how.
#[derive(Debug, Clone, PartialEq, Args)]
pub struct Request {
    /// The environment.
    #[command(flatten)]
    pub env: EnvId,
    /// The policy.
    #[arg(long, help = POLICY)]
    pub policy: String,
    /// Sampling of initial conditions [default: thinned with --predictor, else plain]
    #[arg(long, value_parser = one_of::<SamplingMethod>())]
    pub method: Option<SamplingMethod>,
    /// Predictor of `risk learn`
    #[arg(long, value_name = "FILE")]
    pub predictor: Option<PathBuf>,
    /// Number of episodes; a larger number continues a run
    #[arg(long, default_value_t = 1000)]
    pub episodes: u64,
    /// Exponent of the predictor in the sampling density [default: as learned]
    #[arg(long, value_name = "A")]
    pub exponent: Option<f64>,
    /// Purpose: estimate the probability, or show that it is small; sets --plain-share
    #[arg(long, value_parser = word_of::<Goal>(), default_value = "estimate")]
    pub goal: Goal,
    /// Share of plain experiments [default: thinned 0.1, adaptive 0.5, importance 0.92; 0.8 with --goal gate]
    #[arg(long, value_name = "SHARE")]
    pub plain_share: Option<f64>,
    /// Also report the failure rate within the riskiest SHARE of draws
    #[arg(long, value_name = "SHARE")]
    pub top_share: Option<f64>,
    /// Experiments per draw, thinned and adaptive [default: from the predictor; adaptive 0.01]
    #[arg(long, value_name = "R")]
    pub rate: Option<f64>,
    /// Confidence level of the intervals
    #[arg(long, default_value_t = LEVEL, allow_negative_numbers = true)]
    pub level: f64,
    /// Largest acceptable failure probability; exit code 1 if not shown
    #[arg(long, value_name = "P")]
    pub max_risk: Option<f64>,
    /// Stop once the interval excludes --max-risk
    #[arg(long, requires = "max_risk")]
    pub early_stop: bool,
    /// Stop once the interval is this narrow
    #[arg(long, value_name = "W")]
    pub width: Option<f64>,
    /// Low-fidelity environment with the same channels and initial conditions
    #[arg(long, value_name = "ENV")]
    pub cheap: Option<String>,
    /// Parameter of --env that differs from nominal; repeatable
    #[arg(long = "parameter", value_name = "NAME=VALUE", value_parser = parameter, allow_hyphen_values = true, requires = "cheap")]
    pub parameters: Vec<(String, f64)>,
    /// Parameter of the low-fidelity environment; repeatable
    #[arg(long = "cheap-parameter", value_name = "NAME=VALUE", value_parser = parameter, allow_hyphen_values = true, requires = "cheap")]
    pub cheap_parameters: Vec<(String, f64)>,
    /// Extra low-fidelity episodes per high-fidelity episode
    #[arg(long, value_name = "K", default_value_t = 5, requires = "cheap")]
    pub per_dear: u64,
    /// Pairs between two looks
    #[arg(long, value_name = "PAIRS", default_value_t = 25, requires = "cheap")]
    pub block: u64,
    /// Write all experiments: draws, seeds, weights, margins and outcomes
    #[arg(long, value_name = "FILE.csv|FILE.parquet", conflicts_with = "cheap")]
    pub table: Option<PathBuf>,
    /// Output folder; an interrupted run continues there
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// What is drawn for each episode, and by what one fails.
    #[command(flatten)]
    pub scenario: ScenarioRequest,
    /// What goes wrong in every episode.
    // Last, for the heading of its options would hold for those behind it.
    #[command(flatten)]
    pub anomaly: Option<AnomalyRequest>,
}

fn parameter(text: &str) -> Result<(String, f64), String> {
    let found = text.split_once('=').and_then(|(name, value)| Some((name.into(), value.parse().ok()?)));
    found.ok_or_else(|| "expected a name and a number with = between, such as friction=0.8".into())
}

/// Parameters by name.
///
/// # Errors
/// If one is given twice.
pub(crate) fn by_name(option: &str, given: &[(String, f64)]) -> Result<BTreeMap<String, f64>> {
    let all: BTreeMap<String, f64> = given.iter().cloned().collect();
    ensure!(all.len() == given.len(), "{option}: expected each parameter once, found one twice");
    Ok(all)
}

/// What a run is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[derive(EnumString, VariantArray, IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
pub enum Goal {
    /// Know the failure probability
    #[default]
    Estimate,
    /// Show that it is small
    Gate,
}

impl Goal {
    /// The share of the experiments that nothing guides.
    pub fn plain_share(self, method: SamplingMethod) -> f64 {
        match (self, method) {
            (_, SamplingMethod::Importance) => IMPORTANCE_SHARE,
            (Goal::Gate, _) => 0.8,
            (Goal::Estimate, SamplingMethod::Adaptive) => ADAPTIVE_SHARE,
            (Goal::Estimate, _) => PLAIN_SHARE,
        }
    }
}

/// How initial conditions are chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[derive(EnumString, VariantArray, IntoStaticStr, EnumMessage)]
#[strum(serialize_all = "kebab-case")]
pub enum SamplingMethod {
    /// Monte Carlo
    Plain,
    /// Likelier where the predictor expects failures; valid at any stop
    Thinned,
    /// Likelier where failures occurred before; valid at any stop
    Adaptive,
    /// From normals fitted to failures; needs a stated distribution
    Importance,
}

/// What was estimated.
#[derive(Debug, Clone, Serialize)]
#[serde(transparent)]
pub struct Report {
    /// Everything that was found.
    pub document: Document,
    /// Whether anything was seen that counts as a failure, if only with random commands.
    #[serde(skip)]
    pub counts_failures: bool,
    /// Time that the experiments took, in seconds.
    #[serde(skip)]
    pub secs: f64,
    /// The page, if it was written.
    #[serde(skip)]
    pub page: Option<PathBuf>,
}

/// Makes the experiments and judges them; with a cheap environment in pairs.
///
/// # Errors
/// If an environment, policy or predictor cannot be had, a setting is out of its range or does not go with another, the
/// output folder holds another run, or a file cannot be written.
pub fn run(request: &Request, context: &Context) -> Result<Answered> {
    let Some(cheap) = &request.cheap else { return Ok(Answered::Alone(Box::new(alone(request, context)?))) };
    request.fits_cheap(cheap)?;
    request.check()?;
    request.ending(Level::try_from(request.level)?)?;
    let _held = request.out.as_deref().map(Lock::folder).transpose()?;
    Ok(Answered::Helped(Box::new(multifidelity::run(request, context)?)))
}

/// Makes the experiments in one environment and judges them.
///
/// # Errors
/// As [`run`].
pub fn alone(request: &Request, context: &Context) -> Result<Report> {
    let (level, method) = (Level::try_from(request.level)?, request.method()?);
    request.check()?;
    let _held = request.out.as_deref().map(Lock::folder).transpose()?;
    let subject = request.scenario.subject_of_several(&request.env, &request.policy)?;
    let anomaly_spec = subject.anomaly_spec(request.anomaly.as_ref())?;
    let experimenter = Experimenter::new(&subject, context.seed)?
        .allowing(context.allow_diverged)
        .disturbed_by(anomaly_spec.as_ref());
    experimenter.differ()?;
    let guide = request.predictor.as_deref().map(|path| Guide::open(path, &subject)).transpose()?;
    if method == SamplingMethod::Adaptive {
        scorer::check(experimenter, guide.as_ref())?;
    }
    let estimation = request.estimation(method, experimenter, guide.as_ref(), context)?;
    let estimation = estimation.keeping_samples(request.table.is_some());
    let ending = request.ending(level)?;
    let blocks = estimation.run(request.out.as_deref(), request.episodes, &ending, context)?;
    if let Some(path) = &request.table {
        write::atomically(path, &table::columns_to_file(&samples::columns(&experimenter, &blocks), path)?)?;
    }
    let verdict = estimation.judge(&blocks, level)?;
    ending.missed(verdict.risk.as_ref().ok()).iter().for_each(|missed| context.note(missed));
    if let (Some(most), Ok(risk)) = (request.max_risk, &verdict.risk) {
        context.note(&format!("at most {most}: {} decides, which assumes nothing", risk.method));
    }
    let atlas = Atlas::of(&verdict.failures, subject.env.spec());
    let (command, config) = (context.command.as_str(), serde_json::to_vec(&estimation.spec)?);
    let made = provenance::made(command, context.seed, &config, &[subject.env.spec()], &[&subject.name]);
    let mut document = Document { made, ..Document::new(&estimation.spec, &verdict, atlas) };
    document.warnings.extend(guide.as_ref().and_then(Guide::warning));
    let counts_failures = !document.failures.is_empty() || fails_at_random(request, &subject, context)?;
    let mut report = Report { document, counts_failures, secs: verdict.secs, page: None };
    if let Some(folder) = &request.out {
        report.save(folder, experimenter)?;
    }
    if !report.counts_failures {
        context.note(&format!(
            "no failure was seen, not even in {RANDOM_TRIES} episodes with random commands: environment {} may count nothing \
             as failure",
            request.env
        ));
    }
    Ok(report)
}

/// Experiments per draw of an adaptive run, where nothing else is said.
const ADAPTIVE_RATE: f64 = 0.01;
/// Plain share of an adaptive run: at half, rare failures cost about a fortieth of what counting needs, and the interval that
/// assumes nothing is 1.4 to 1.8 times as wide (studies/risk/README.md).
const ADAPTIVE_SHARE: f64 = 0.5;
/// Plain share of importance sampling: few guided experiments say enough, and the plain ones alone make the interval that
/// assumes nothing, which is then at most 1.09 times as wide as that of counting.
const IMPORTANCE_SHARE: f64 = 0.92;

/// Episodes with random commands that show whether anything counts as a failure.
const RANDOM_TRIES: u64 = 50;

/// Whether random commands fail at least once.
fn fails_at_random(request: &Request, subject: &Subject, context: &Context) -> Result<bool> {
    let random = Subject::new(&request.env, "random")?.under(subject.scenario.clone())?;
    let experimenter = Experimenter::new(&random, context.seed)?.allowing(context.allow_diverged);
    for i in 0..RANDOM_TRIES {
        let key = experimenter.key("random", i);
        if experimenter.play(key, &experimenter.draw(key))?.failed {
            return Ok(true);
        }
    }
    Ok(false)
}

impl Request {
    /// The method that is meant, which depends on whether there is a predictor.
    ///
    /// # Errors
    /// If method and predictor do not go together.
    pub fn method(&self) -> Result<SamplingMethod> {
        let has_predictor = self.predictor.is_some();
        let usual = if has_predictor { SamplingMethod::Thinned } else { SamplingMethod::Plain };
        let method = self.method.unwrap_or(usual);
        let is_plain = method == SamplingMethod::Plain;
        let name: &str = method.into();
        ensure!(
            method != SamplingMethod::Thinned || has_predictor,
            "method {name}: expected a predictor (make one with `risk learn`), found none"
        );
        let is_alone = matches!(method, SamplingMethod::Plain | SamplingMethod::Importance);
        ensure!(!is_alone || !has_predictor, "method {name}: expected no predictor, found one");
        ensure!(
            method != SamplingMethod::Importance || self.rate.is_none() && self.exponent.is_none(),
            "method importance: expected no rate and no exponent, because every draw is tried, found one"
        );
        ensure!(
            !is_plain || self.goal == Goal::Estimate,
            "goal gate: expected the method thinned or adaptive, because the goal sets the plain share of a method that \
             follows something, found {name}; counting is all plain, and --max-risk makes a gate of it"
        );
        ensure!(
            method == SamplingMethod::Thinned || self.top_share.is_none(),
            "top share: expected the method thinned, whose predictor is fixed before, found {name}"
        );
        ensure!(
            method != SamplingMethod::Adaptive || self.exponent.is_none(),
            "method adaptive: expected no exponent, because its chances follow what failed, found one"
        );
        Ok(method)
    }

    fn check(&self) -> Result<()> {
        within("episodes", self.episodes, 1..=100_000_000)?;
        self.table.as_deref().map_or(Ok(()), table::check_name)?;
        positive("exponent", self.exponent.unwrap_or(1.0), 4.0)?;
        positive("plain share", self.plain_share.unwrap_or(1.0), 1.0)?;
        positive("rate", self.rate.unwrap_or(1.0), 1.0)?;
        let percent = 100.0 * self.top_share.unwrap_or(0.5);
        ensure!(
            (1.0..=99.0).contains(&percent) && (percent - percent.round()).abs() < 1e-9,
            "top share: expected a whole number of percent from 0.01 to 0.99, found {}",
            percent / 100.0
        );
        let is_sound = self.max_risk.is_none_or(|p| (0.0..=1.0).contains(&p));
        ensure!(is_sound, "max risk: expected a number from 0 to 1");
        Ok(())
    }

    /// Share of the experiments that nothing guides.
    pub fn plain_share(&self, method: SamplingMethod) -> f64 {
        self.plain_share.unwrap_or(self.goal.plain_share(method))
    }

    /// The failure probability on one side of which the interval is to lie, if that ends the run.
    pub(crate) fn decided(&self) -> Option<f64> {
        self.max_risk.filter(|_| self.early_stop)
    }

    fn ending(&self, level: Level) -> Result<Ending> {
        ensure!(
            !self.early_stop || self.max_risk.is_some(),
            "early stop: expected a largest acceptable risk with it, found none"
        );
        let ending = Ending { level, width: self.width, decided: self.decided() };
        ending.check()?;
        Ok(ending)
    }

    fn estimation<'c>(
        &self,
        method: SamplingMethod,
        experimenter: Experimenter<'c>,
        guide: Option<&'c Guide>,
        context: &Context,
    ) -> Result<Estimation<'c>> {
        if method == SamplingMethod::Adaptive {
            let rate = self.rate.unwrap_or(ADAPTIVE_RATE);
            return Estimation::adaptive(experimenter, guide, rate, self.plain_share(method));
        }
        if method == SamplingMethod::Importance {
            return Estimation::importance(experimenter, self.plain_share(method));
        }
        let Some(guide) = guide else { return Ok(Estimation::plain(experimenter)) };
        let exponent = self.exponent.unwrap_or(guide.exponent());
        let proposal = Proposal { plain_share: self.plain_share(method), exponent };
        Estimation::thinned(experimenter, guide, proposal, (self.rate, self.top_share), context)
    }
}

impl Report {
    /// Why the estimate is not acceptable: its whole interval must be at most `most`, and none of the others may lie above.
    pub fn unacceptable(&self, most: f64) -> Option<String> {
        let above = |answer: &&Answer| answer.risk.as_ref().is_some_and(|risk| risk.low > most);
        let found = match (&self.document.risk.risk, self.document.others.iter().find(above)) {
            (Some(risk), Some(other)) if risk.high <= most => format!("{other}"),
            (Some(risk), None) if risk.is_finite() && risk.high <= most => return None,
            (Some(risk), _) => {
                format!("up to {} ({}, which assumes nothing)", probability(risk.high), risk.method)
            }
            (None, _) => "no valid interval".into(),
        };
        Some(format!("risk: expected at most {most}, found {found}"))
    }

    fn experiments_per_sec(&self) -> f64 {
        self.document.experiments as f64 / self.secs.max(1e-9)
    }

    /// Writes the files; the time that it took stands apart, as it is the only number that differs from run to run.
    fn save(&mut self, folder: &Path, by: Experimenter<'_>) -> Result<()> {
        let page = page::render(&page::Content { by, document: &self.document, folder })?;
        let text = serde_json::to_string_pretty(&self.document).context("the results are plain data")? + "\n";
        write::atomically(&folder.join(document::FILE), text.as_bytes())?;
        let path = folder.join("report.html");
        write::atomically(&path, page.as_bytes())?;
        self.page = Some(path);
        let timing = json!({ "seconds": self.secs, "experiments_per_second": self.experiments_per_sec() });
        request::write_json(Some(folder), "timing.json", &timing)
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (document, (secs, rate)) = (&self.document, (self.secs, self.experiments_per_sec()));
        let Document { run, experiments, draws, failures, .. } = document;
        let (policy, env, failures) = (&run.policy.id, &run.env, failures.len());
        let anomaly =
            run.anomaly_spec.as_ref().map_or(String::new(), |_| format!(" with {}", document.anomaly()));
        writeln!(
            f,
            "{policy} in {env}{anomaly}: {failures} failures in {experiments} experiments of {draws} draws, {secs:.0} s \
             ({rate:.0} per second)"
        )?;
        document.made.conditions().try_for_each(|(_, said)| writeln!(f, "  {said}"))?;
        run.scenario.iter().try_for_each(|scenario| writeln!(f, "  {scenario}"))?;
        document.answers().try_for_each(|answer| writeln!(f, "  {answer}"))?;
        if let Some(Requirements { promise, each }) = &document.requirements {
            each.iter().try_for_each(|requirement| writeln!(f, "  {requirement}"))?;
            writeln!(f, "  {promise}")?;
        }
        document.warnings.iter().try_for_each(|warning| writeln!(f, "  warning: {warning}"))?;
        if let Some(Counting { factor, episodes }) = document.counting {
            writeln!(
                f,
                "  within a factor of {factor} in 95 % of all runs: plain counting from {episodes} episodes on"
            )?;
        }
        for (i, kind) in document.kinds.iter().enumerate() {
            writeln!(f, "  kind {}: {} of it, {} seen", i + 1, probability(kind.mass), kind.failures)?;
        }
        self.page.iter().try_for_each(|page| writeln!(f, "written to {}", page.display()))
    }
}
