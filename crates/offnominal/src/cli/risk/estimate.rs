//! `risk estimate`: how often a policy fails.

use crate::cli::Common;
use crate::cli::risk::Outcome;
use crate::cli::shifts::Below;
use anyhow::{Context, Result, ensure};
use clap::{Args, ValueEnum};
use offnominal_core::Seed;
use offnominal_engine::subject::Cast;
use offnominal_files::write;
use offnominal_risk::curve::Curve;
use offnominal_risk::document::{self, Document};
use offnominal_risk::page::{self, probability};
use offnominal_risk::{Atlas, Estimation, Guide, Lab, Verdict};
use offnominal_stats::Level;
use offnominal_stats::risk::{PLAIN_SHARE, Proposal};
use serde_json::json;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Arguments of `risk estimate`.
#[derive(Debug, Args)]
pub struct EstimateArgs {
    /// World id (see `list envs`)
    #[arg(long)]
    env: String,
    /// `tqc` for the one shipped with the world, a name of `list policies`, the path of a file, or `random`
    #[arg(long)]
    policy: String,
    #[command(flatten)]
    below: Below,
    /// How initial conditions are chosen [default: thinned with a predictor, else plain]
    #[arg(long, value_enum)]
    method: Option<Way>,
    /// The predictor that `risk learn` wrote
    #[arg(long, value_name = "FILE")]
    predictor: Option<PathBuf>,
    /// Number of experiments; a run in the output folder is continued to so many
    #[arg(long, default_value_t = 1000, value_parser = clap::value_parser!(u64).range(1..=100_000_000))]
    experiments: u64,
    /// How much the predictor is trusted: experiments go where its chance to this power is large [default: as learned]
    #[arg(long, value_name = "A")]
    exponent: Option<f64>,
    /// Share of the experiments that ignores the predictor, above 0, at most 1
    #[arg(long, value_name = "SHARE", default_value_t = PLAIN_SHARE)]
    plain_share: f64,
    /// Experiments per draw of the thinned method, above 0, at most 1 [default: as few as the predictor can use]
    #[arg(long, value_name = "R")]
    rate: Option<f64>,
    /// Draws from which the normalising constant of mixture and algorithm-1 is known
    #[arg(long, value_name = "N", default_value_t = 20_000, value_parser = clap::value_parser!(u32).range(100..=10_000_000))]
    constant_draws: u32,
    /// Confidence level of the intervals, between 0 and 1
    #[arg(long, default_value_t = 0.95)]
    level: f64,
    /// Largest acceptable failure probability: if the upper end of the interval is above it, the exit code is 1
    #[arg(long, value_name = "P")]
    max_risk: Option<f64>,
}

/// How initial conditions are chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Way {
    /// Draws of the world itself: counting
    Plain,
    /// Draws that are tried with a chance that grows with the prediction; valid whenever one stops
    Thinned,
    /// Draws that the predictor accepts, mixed with plain ones
    Mixture,
    /// Draws that the predictor accepts, as published; no valid interval, for comparison
    #[value(name = "algorithm-1")]
    Algorithm1,
}

impl EstimateArgs {
    /// Makes the experiments, writes what was found, and prints the estimate.
    ///
    /// # Errors
    /// If world, policy or predictor cannot be had, a setting is out of its range, or a file cannot be written.
    pub fn run(&self, common: &Common) -> Result<Outcome> {
        let (level, way) = (Level::try_from(self.level)?, self.way()?);
        self.check()?;
        let cast = Cast::new(&self.env, &self.policy)?;
        let change = self.below.change(cast.env.spec())?;
        let cast = cast.shifted_by(change)?;
        let lab = Lab::new(&cast, common.seed)?;
        let guide = self.predictor.as_deref().map(|path| Guide::open(path, &cast)).transpose()?;
        let estimation = self.estimation(way, lab, guide.as_ref(), common)?;
        let folder = common.out_or("risk");
        let blocks = estimation.run(&folder, self.experiments, &common.context())?;
        let verdict = estimation.judge(&blocks, level, common.jobs)?;
        let atlas = Atlas::of(&verdict.failures, cast.env.spec());
        let curve = Curve::of(&verdict, way == Way::Plain, Seed(common.seed));
        let document = Document::new(&estimation.spec, &verdict, &atlas, curve.as_ref().ok());
        let content = page::Content {
            lab: &lab,
            document: &document,
            verdict: &verdict,
            atlas: &atlas,
            curve: curve.as_ref().ok(),
            folder: folder.display().to_string(),
            command: self.command(way, common.seed),
        };
        save(&folder, &document, &verdict, &page::render(&content)?)?;
        print(&document, &verdict, curve.as_ref().ok(), &folder, common.json)?;
        self.hint(&document, &lab)?;
        Ok(self.outcome(&document))
    }

    fn way(&self) -> Result<Way> {
        let way = self.method.unwrap_or(if self.predictor.is_some() { Way::Thinned } else { Way::Plain });
        let is_plain = way == Way::Plain;
        ensure!(
            is_plain || self.predictor.is_some(),
            "--method {}: expected a --predictor (make one with `risk learn`), found none",
            name(way)
        );
        ensure!(!is_plain || self.predictor.is_none(), "--method plain: expected no --predictor, found one");
        Ok(way)
    }

    fn check(&self) -> Result<()> {
        let exponent = self.exponent.unwrap_or(1.0);
        ensure!(
            exponent > 0.0 && exponent <= 4.0,
            "--exponent: expected a number above 0, at most 4, found {exponent}"
        );
        let share = self.plain_share;
        ensure!(
            share > 0.0 && share <= 1.0,
            "--plain-share: expected a number above 0, at most 1, found {share}"
        );
        let is_sound = self.max_risk.is_none_or(|p| (0.0..=1.0).contains(&p));
        ensure!(is_sound, "--max-risk: expected a number from 0 to 1");
        Ok(())
    }

    fn estimation<'c>(
        &self,
        way: Way,
        lab: Lab<'c>,
        guide: Option<&'c Guide>,
        common: &Common,
    ) -> Result<Estimation<'c>> {
        let Some(guide) = guide else { return Ok(Estimation::plain(lab, common.seed)) };
        let plain_share = if way == Way::Algorithm1 { 0.0 } else { self.plain_share };
        let proposal = Proposal { plain_share, exponent: self.exponent.unwrap_or(guide.exponent()) };
        let draws = self.constant_draws as usize;
        match way {
            Way::Thinned => Estimation::thinned(lab, common.seed, guide, proposal, self.rate, common.jobs),
            _ => Ok(Estimation::accepted(lab, common.seed, guide, proposal, draws)),
        }
    }

    /// If nothing failed, says so when not even random commands fail.
    fn hint(&self, document: &Document, lab: &Lab<'_>) -> Result<()> {
        const TRIES: u64 = 50;
        if !document.failures.is_empty() {
            return Ok(());
        }
        let random = Cast::new(&self.env, "random")?.shifted_by(lab.cast.shifted.clone())?;
        let other = Lab { cast: &random, ..*lab };
        for i in 0..TRIES {
            let key = other.key("random", i);
            if other.play(key, &other.draw(key))?.failed {
                return Ok(());
            }
        }
        eprintln!(
            "no failure was seen, not even in {TRIES} episodes with random commands: world {} may count nothing as failure",
            self.env
        );
        Ok(())
    }

    /// Acceptable if the whole interval is below what was asked for.
    fn outcome(&self, document: &Document) -> Outcome {
        let Some(most) = self.max_risk else { return Outcome::Done };
        match &document.risk.risk {
            Some(risk) if risk.high <= most => Outcome::Done,
            Some(risk) => {
                let high = probability(risk.high);
                eprintln!("not acceptable: risk: expected at most {most}, found up to {high}");
                Outcome::NotAcceptable
            }
            None => {
                eprintln!("not acceptable: risk: expected at most {most}, found no valid interval");
                Outcome::NotAcceptable
            }
        }
    }

    /// The command that makes the same report.
    fn command(&self, way: Way, seed: u64) -> String {
        let mut words = vec![format!(
            "offnominal risk estimate --env {} --policy {}{}",
            self.env,
            self.policy,
            self.below.words()
        )];
        words.push(format!("--method {} --experiments {}", name(way), self.experiments));
        words.extend(self.predictor.as_ref().map(|p| format!("--predictor {}", p.display())));
        words.extend(self.exponent.map(|a| format!("--exponent {a}")));
        words.extend(self.rate.map(|r| format!("--rate {r}")));
        if way == Way::Thinned || way == Way::Mixture {
            words.push(format!("--plain-share {}", self.plain_share));
        }
        words.push(format!("--level {} --seed {seed}", self.level));
        words.join(" ")
    }
}

fn name(way: Way) -> String {
    way.to_possible_value().map_or(String::new(), |v| v.get_name().to_string())
}

/// Writes the files; the time that it took stands apart, as it is the only number that differs from run to run.
fn save(folder: &Path, document: &Document, verdict: &Verdict, page: &str) -> Result<()> {
    let text = serde_json::to_string_pretty(document).context("the results are plain data")? + "\n";
    write::atomically(&folder.join(document::FILE), text.as_bytes())?;
    write::atomically(&folder.join("report.html"), page.as_bytes())?;
    let timing = json!({ "seconds": verdict.secs, "experiments_per_second": rate(verdict) });
    write::atomically(&folder.join("timing.json"), format!("{timing:#}\n").as_bytes())
}

fn rate(verdict: &Verdict) -> f64 {
    verdict.experiments as f64 / verdict.secs.max(1e-9)
}

fn print(
    document: &Document,
    verdict: &Verdict,
    curve: Option<&Curve>,
    folder: &Path,
    as_json: bool,
) -> Result<()> {
    let mut out = std::io::stdout().lock();
    if as_json {
        writeln!(out, "{:#}", json!(document))?;
        return Ok(());
    }
    let (experiments, draws, failures) = (document.experiments, document.draws, document.failures.len());
    writeln!(
        out,
        "{} in {}: {failures} failures in {experiments} experiments of {draws} draws, {:.0} s ({:.0} per second)",
        document.run.policy.id,
        document.run.env,
        verdict.secs,
        rate(verdict)
    )?;
    for answer in std::iter::once(&document.risk).chain(&document.others) {
        match (&answer.risk, &answer.refused) {
            (Some(e), _) => {
                let [value, low, high] = [e.value, e.low, e.high].map(probability);
                writeln!(out, "  {:<54} {value} [{low}, {high}]  {}", answer.name, e.method)?;
            }
            (None, why) => {
                writeln!(out, "  {:<54} refused: {}", answer.name, why.as_deref().unwrap_or_default())?;
            }
        }
    }
    for warning in &document.warnings {
        writeln!(out, "  warning: {warning}")?;
    }
    if let Some(curve) = curve {
        writeln!(
            out,
            "  within a factor of {} in 95 % of all runs: plain counting after {} episodes, always from {}{}",
            curve.delta,
            curve.plain.first_reached,
            curve.plain.always_holds,
            curve.method.map_or(String::new(), |n| format!("; so chosen from {n:.0}"))
        )?;
    }
    for (i, kind) in
        serde_json::from_value::<Vec<serde_json::Value>>(document.kinds.clone())?.iter().enumerate()
    {
        let mass = probability(kind["mass"].as_f64().unwrap_or(0.0));
        writeln!(out, "  kind {}: {mass} of it, {} seen", i + 1, kind["failures"])?;
    }
    writeln!(out, "written to {}", folder.join("report.html").display())?;
    Ok(())
}
