//! `shift`: policies on bodies that they do not know, and whether their drop can be told beforehand.

use crate::cli::{Common, Outcome};
use anyhow::{Context, Result};
use clap::Args;
use offnominal_core::spec::EnvSpec;
use offnominal_engine::catalogues;
use offnominal_engine::policies::bodies;
use offnominal_files::store::Store;
use offnominal_files::write::atomically;
use offnominal_shift as shift;
use offnominal_shift::{Content, Draw, Plan, Row, Setting};
use offnominal_worlds::env::body::{BODIES, Fall, Mass, Reading};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::time::Instant;

/// Arguments of `shift`.
#[derive(Debug, Args)]
pub struct Shift {
    /// World: hopper, walker, ant, half-cheetah-m
    #[arg(long)]
    env: String,
    /// Folder or zip archive with policies named ENV-ALGORITHM-SEED.safetensors, or one policy [default: the shipped ones]
    #[arg(long, value_name = "PATH")]
    policies: Option<PathBuf>,
    /// Policies that were trained on such bodies (`train --sample`), or the table of another `shift` run, for figure 5
    #[arg(long, value_name = "PATH")]
    toplines: Option<PathBuf>,
    /// Spreads of the bodies, relative to the nominal one
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_values_t = [0.05, 0.1, 0.2])]
    sigma: Vec<f64>,
    /// Bodies of each spread
    #[arg(long, default_value_t = 200)]
    bodies: usize,
    /// Steps of each policy on each body
    #[arg(long, default_value_t = 10_000)]
    steps: usize,
    /// What is drawn: limbs, mass, ground-friction, motor-strength
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "limbs")]
    shift: Vec<String>,
    /// What the numbers of lengths mean: true, or paper-literal (the publication's tables as they stand)
    #[arg(long, value_parser = word::<Reading>, default_value = "true")]
    reading: Reading,
    /// What becomes of the mass: by-volume, or fixed-total
    #[arg(long, value_parser = word::<Mass>, default_value = "by-volume")]
    mass: Mass,
    /// What the fall test compares with: relative (the body's own height) or absolute (the nominal body's)
    #[arg(long, value_parser = word::<Fall>, default_value = "relative")]
    fall: Fall,
    /// Runs of each policy at home from which the internal models learn
    #[arg(long, default_value_t = 10)]
    home_runs: usize,
    /// Gradient steps of the internal models
    #[arg(long, default_value_t = 40_000)]
    updates: u64,
    /// Detectors whose scores are set against the drop
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "knn,pe-dm,offnominal")]
    detectors: Vec<String>,
}

/// Reads one of the words of an option.
fn word<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    serde_json::from_value(Value::from(text)).map_err(|e| e.to_string())
}

impl Shift {
    /// Plays what is not finished, then writes table, answers and report.
    ///
    /// # Errors
    /// If an option makes no sense, a policy cannot be read, or a file cannot be written.
    pub fn run(&self, common: &Common) -> Result<Outcome> {
        let began = Instant::now();
        let plan = self.plan(common);
        plan.check()?;
        // A world without limbs, or a misspelt one, is named with those that have some.
        offnominal_worlds::env::body::quantities(&self.env, self.reading)
            .with_context(|| format!("--env: expected one of {}", BODIES.join(", ")))?;
        let world = catalogues::worlds().build(&self.env, &json!({}))?;
        for detector in &self.detectors {
            catalogues::detectors().build(detector, &json!({}))?;
        }
        let agents = bodies::find(world.spec(), self.policies.as_deref())?;
        let out = common.out.clone().unwrap_or_else(|| PathBuf::from("runs/shift").join(&self.env));
        let store = Store::new(&out);
        let draws = shift::draws(&plan)?;
        // First of all, as toplines are trained on these bodies.
        atomically(&out.join("bodies.csv"), &shift::bodies_csv(&draws)?)?;
        let found = shift::run(&plan, &agents, &draws, &store, &common.context())?;
        let toplines = self.toplines(world.spec(), &plan, &draws, &store, common)?;
        let mut answers = shift::answers(&found.rows, plan.root())?;
        answers.extend(shift::against_toplines(&found.rows, &toplines));
        answers.extend(shift::chances(&found.rows, plan.root()));
        let content = Content {
            plan: &plan,
            rows: &found.rows,
            toplines: &toplines,
            draws: &draws,
            answers: &answers,
            command: self.command(common),
        };
        atomically(&out.join("results.csv"), &shift::to_csv(&found.rows)?)?;
        if !toplines.is_empty() {
            atomically(&out.join("toplines.csv"), &shift::to_csv(&toplines)?)?;
        }
        atomically(&out.join("answers.csv"), &shift::answers_csv(&self.env, &answers)?)?;
        atomically(&out.join("report.html"), shift::page(&content, common.jobs)?.as_bytes())?;
        let summary = shift::summary(&answers);
        let (n, secs) = (agents.len(), began.elapsed().as_secs_f64());
        if common.json {
            let value = json!({ "env": self.env, "policies": n, "ran": found.ran, "rows": found.rows.len(),
                "summary": summary, "report": out.join("report.html"), "wall_secs": secs });
            println!("{value:#}");
        } else {
            println!("{summary}");
            println!(
                "{n} policies, {} cells played in {secs:.0} s; {}",
                found.ran,
                out.join("report.html").display()
            );
        }
        Ok(Outcome::Done)
    }

    fn plan(&self, common: &Common) -> Plan {
        let setting = Setting {
            env: self.env.clone(),
            shifts: self.shift.clone(),
            reading: self.reading,
            mass: self.mass,
            fall: self.fall,
        };
        Plan {
            setting,
            sigmas: self.sigma.clone(),
            bodies: self.bodies,
            steps: self.steps,
            home_runs: self.home_runs,
            updates: self.updates,
            detectors: self.detectors.clone(),
            seed: common.seed,
        }
    }

    /// The rows of the toplines: those of a table, or of policies that play now.
    fn toplines(
        &self,
        spec: &EnvSpec,
        plan: &Plan,
        draws: &[(f64, Draw)],
        store: &Store,
        common: &Common,
    ) -> Result<Vec<Row>> {
        match self.toplines.as_deref() {
            None => Ok(vec![]),
            Some(path) if path.extension().is_some_and(|e| e == "csv") => {
                let bytes = std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
                shift::from_csv(&bytes, path)
            }
            Some(path) => {
                let agents = bodies::find(spec, Some(path)).context("--toplines")?;
                shift::toplines(plan, &agents, draws, store, &common.context())
            }
        }
    }

    /// The command that makes the same again.
    fn command(&self, common: &Common) -> String {
        let list = |items: &[String]| items.join(",");
        let sigmas: Vec<String> = self.sigma.iter().map(f64::to_string).collect();
        let word = |value: Value| value.as_str().unwrap_or_default().to_string();
        let path = |option: &str, path: &Option<PathBuf>| {
            path.as_ref().map_or(String::new(), |p| format!(" --{option} {}", p.display()))
        };
        let policies = path("policies", &self.policies) + &path("toplines", &self.toplines);
        format!(
            "offnominal shift --env {}{policies} --sigma {} --bodies {} --steps {} --shift {} --reading {} --mass {} \
             --fall {} --home-runs {} --updates {} --detectors {} --seed {}",
            self.env,
            list(&sigmas),
            self.bodies,
            self.steps,
            list(&self.shift),
            word(json!(self.reading)),
            word(json!(self.mass)),
            word(json!(self.fall)),
            self.home_runs,
            self.updates,
            list(&self.detectors),
            common.seed
        )
    }
}
