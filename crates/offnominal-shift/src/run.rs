//! From a request to a report: policies on bodies, answers, tables and a page.

use crate::analysis::{self, against_toplines};
use crate::bodies::{Draw, bodies_csv};
use crate::cell;
use crate::page::{self, Content};
use crate::plan::{BodySetting, ShiftPlan};
use crate::row::{self, Row};
use crate::search::chances;
use anyhow::{Context as _, Result};
use clap::Args;
use offnominal_core::limits::{EPISODES, STEPS};
use offnominal_core::spec::EnvSpec;
use offnominal_engine::catalogues;
use offnominal_engine::context::Context;
use offnominal_engine::policies::bodies;
use offnominal_engine::provenance;
use offnominal_engine::request::within;
use offnominal_files::lock::Lock;
use offnominal_files::provenance::Provenance;
use offnominal_files::store::Store;
use offnominal_files::table;
use offnominal_files::write::atomically;
use offnominal_work::cli::word;
use offnominal_worlds::env::body::{self, BODIES, Fall, Mass, Reading};
use serde::Serialize;
use serde_json::json;
use std::fmt::{self, Display, Formatter};
use std::path::{Path, PathBuf};
use std::time::Instant;

/// What to run; the seed is that of the context.
#[derive(Debug, Clone, PartialEq, Serialize, Args)]
pub struct Request {
    /// Environment: hopper, walker, ant or half-cheetah-m
    #[arg(long)]
    pub env: String,
    /// Policy, or folder or zip of ENV-ALGORITHM-SEED.safetensors [default: shipped]
    #[arg(long = "policy", value_name = "PATH")]
    pub policies: Option<PathBuf>,
    /// Oracle policies trained on such bodies, or toplines.parquet of a run
    #[arg(long, value_name = "PATH")]
    pub toplines: Option<PathBuf>,
    /// Relative standard deviations of the bodies
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_values_t = [0.05, 0.1, 0.2])]
    pub sigma: Vec<f64>,
    /// Bodies per standard deviation
    #[arg(long, default_value_t = 200)]
    pub bodies: usize,
    /// Steps per policy and body
    #[arg(long, default_value_t = 10_000)]
    pub steps: usize,
    /// Drawn quantities: limbs, mass, ground-friction, motor-strength
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "limbs")]
    pub randomise: Vec<String>,
    /// Meaning of lengths: true, or paper-literal (published tables)
    #[arg(long, value_parser = word::<Reading>, default_value = "true")]
    pub reading: Reading,
    /// Mass of a body: by-volume or fixed-total
    #[arg(long, value_parser = word::<Mass>, default_value = "by-volume")]
    pub mass: Mass,
    /// Height of the fall test: relative to the body, or absolute
    #[arg(long, value_parser = word::<Fall>, default_value = "relative")]
    pub fall: Fall,
    /// Nominal runs per policy, from which internal models learn
    #[arg(long, default_value_t = 10)]
    pub nominal_runs: usize,
    /// Gradient steps of the internal models
    #[arg(long, default_value_t = 40_000)]
    pub updates: u64,
    /// Detectors whose scores are compared with the return gap
    #[arg(long = "detector", value_name = "D,…", value_delimiter = ',', default_values_t = ["knn", "pe-dm", "residual-views"].map(String::from))]
    pub detectors: Vec<String>,
    /// Output folder [default: runs/shift/ENV]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
}

/// What came of it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Report {
    /// The environment.
    pub env: String,
    /// Number of policies.
    pub policies: usize,
    /// Cells that were run now; the others were finished before.
    pub ran: usize,
    /// Pairs of a policy and a body.
    pub rows: usize,
    /// The answer in one sentence.
    pub summary: String,
    /// The page.
    pub report: PathBuf,
    /// Time that it took.
    pub wall_secs: f64,
    /// What made it.
    pub made: Provenance,
}

/// Plays what is not finished, then writes bodies.csv, results.parquet, answers.csv, report.html, and toplines.parquet if
/// there are toplines.
///
/// # Errors
/// If a setting makes no sense, a policy cannot be read, or a file cannot be written.
pub fn run(request: &Request, context: &Context) -> Result<Report> {
    within("bodies", request.bodies, 0..=EPISODES)?;
    within("steps", request.steps, 0..=100_000_000)?;
    within("nominal_runs", request.nominal_runs, 0..=EPISODES)?;
    within("updates", request.updates, 0..=STEPS)?;
    let began = Instant::now();
    let plan = request.plan(context.seed);
    plan.check()?;
    // An environment without limbs, or a misspelt one, is named with those that have some.
    body::quantities(&request.env, request.reading)
        .with_context(|| format!("--env: expected one of {}", BODIES.join(", ")))?;
    let env = catalogues::environments().build(&request.env, &json!({}))?;
    for detector in &request.detectors {
        catalogues::detectors().build(detector, &json!({}))?;
    }
    let policies = bodies::find(env.spec(), request.policies.as_deref())?;
    let out = request.out.clone().unwrap_or_else(|| PathBuf::from("runs/shift").join(&request.env));
    let _held = Lock::folder(&out)?;
    let store = Store::new(&out);
    let draws = cell::draws(&plan)?;
    // First of all, as toplines are trained on these bodies.
    atomically(&out.join("bodies.csv"), &bodies_csv(&draws)?)?;
    let found = cell::run_all(&plan, &policies, &draws, &store, context)?;
    let toplines = request.toplines(env.spec(), &plan, &draws, &store, context)?;
    let mut answers = analysis::answers(&found.rows, plan.root());
    answers.extend(against_toplines(&found.rows, &toplines));
    answers.extend(chances(&found.rows, plan.root()));
    write_rows(&out.join("results.parquet"), &found.rows)?;
    if !toplines.is_empty() {
        write_rows(&out.join("toplines.parquet"), &toplines)?;
    }
    let rows: Vec<_> = answers.iter().map(|a| a.row(&request.env)).collect();
    atomically(&out.join("answers.csv"), &table::to_csv(&rows)?)?;
    let config = serde_json::to_vec(&Request { out: None, ..request.clone() })?;
    let made = provenance::made(&context.command, context.seed, &config, &[env.spec()], &[]);
    let content = Content {
        plan: &plan,
        rows: &found.rows,
        toplines: &toplines,
        draws: &draws,
        answers: &answers,
        made: &made,
    };
    let report = out.join("report.html");
    atomically(&report, page::page(&content, context.jobs)?.as_bytes())?;
    Ok(Report {
        env: request.env.clone(),
        policies: policies.len(),
        ran: found.ran,
        rows: found.rows.len(),
        summary: page::summary(&answers),
        report,
        wall_secs: began.elapsed().as_secs_f64(),
        made,
    })
}

fn write_rows(path: &Path, rows: &[Row]) -> Result<()> {
    atomically(path, &table::to_parquet(&row::numbers(rows))?)
}

impl Request {
    fn plan(&self, seed: u64) -> ShiftPlan {
        ShiftPlan {
            setting: BodySetting {
                env: self.env.clone(),
                drawn: self.randomise.clone(),
                reading: self.reading,
                mass: self.mass,
                fall: self.fall,
            },
            sigmas: self.sigma.clone(),
            bodies: self.bodies,
            steps: self.steps,
            nominal_runs: self.nominal_runs,
            updates: self.updates,
            detectors: self.detectors.clone(),
            seed,
        }
    }

    /// The rows of the toplines: those of a table, or of policies that play now.
    fn toplines(
        &self,
        spec: &EnvSpec,
        plan: &ShiftPlan,
        draws: &[(f64, Draw)],
        store: &Store,
        context: &Context,
    ) -> Result<Vec<Row>> {
        match self.toplines.as_deref() {
            None => Ok(vec![]),
            Some(path) if path.extension().is_some_and(|e| e == "csv" || e == "parquet") => {
                row::rows(&table::read(path)?).with_context(|| path.display().to_string())
            }
            Some(path) => {
                let policies = bodies::find(spec, Some(path)).context("--toplines")?;
                cell::toplines(plan, &policies, draws, store, context)
            }
        }
    }
}

impl Display for Report {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let (n, ran, secs) = (self.policies, self.ran, self.wall_secs);
        writeln!(out, "{}", self.summary)?;
        write!(out, "{n} policies, {ran} cells played in {secs:.0} s; {}", self.report.display())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use offnominal_work::cli;

    #[test]
    fn a_request_runs_once_and_unknown_settings_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let out = json!(folder.path());
        let asked = json!({ "env": "hopper", "bodies": 2, "steps": 100, "sigma": [0.1], "updates": 1, "nominal_runs": 2,
            "detectors": ["knn"], "out": out });
        let request: Request = cli::request(&asked).unwrap();
        let context = Context::silent(1, 2);
        let first = run(&request, &context).unwrap();
        let again = run(&request, &context).unwrap();
        assert_eq!((first.rows, again.ran), (3 * first.policies, 0));
        let numbers = table::read::<row::Number>(&folder.path().join("results.parquet")).unwrap();
        assert_eq!(row::rows(&numbers).unwrap().len(), first.rows);
        assert_eq!(json!(first)["env"], "hopper");
        let error = cli::request::<Request>(&json!({ "env": "ant", "home_runs": 1 })).unwrap_err();
        assert!(error.to_string().contains("home_runs: expected one of the arguments"), "{error}");
    }
}
