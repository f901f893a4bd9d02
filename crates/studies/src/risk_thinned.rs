//! The failure probability by thinned draws, kept in blocks from which replicates are cut.
//!
//! `cargo run --release -p studies -- risk-thinned --env ENV --policy POLICY --predictor FILE --episodes 60000 --seed 5 --out RUN`
//!
//! A draw x is tried with a chance a(x), and a failure counts 1 / a(x). RUN gets `thinned.json` and `blocks.json`, which
//! `risk-replicates` judges. The estimate is that of `offnominal risk estimate --method thinned`.

use crate::played::{Played, context};
use anyhow::Result;
use clap::Parser;
use offnominal_core::estimate::Estimate;
use offnominal_files::{read, write};
use offnominal_risk::estimate::block::ExperimentSpec;
use offnominal_risk::estimate::estimation::{Estimation, Proposal};
use offnominal_risk::experimenter::Experimenter;
use offnominal_risk::guide::Guide;
use offnominal_stats::Level;
use offnominal_stats::risk::{Bounded, Thinning};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// Draws of a block.
pub const BLOCK: u64 = 100;

/// How often does a policy fail, by thinned draws?
#[derive(Debug, Parser)]
#[command(name = "risk-thinned", no_binary_name = true)]
struct Asked {
    #[command(flatten)]
    played: Played,
    /// The predictor that `risk learn` wrote
    #[arg(long)]
    predictor: PathBuf,
    /// How much the predictor is trusted [default: as learned]
    #[arg(long)]
    exponent: Option<f64>,
    /// Number of experiments
    #[arg(long, default_value_t = 1000)]
    episodes: u64,
    #[arg(long, default_value_t = 0)]
    seed: u64,
    #[arg(long)]
    out: PathBuf,
}

/// What was estimated.
#[derive(Serialize, Deserialize)]
pub struct Report {
    /// Which run it was.
    pub run: ExperimentSpec,
    /// The failure probability.
    pub risk: Estimate,
    /// Draws behind it.
    pub draws: u64,
    /// Draws that were tried.
    pub experiments: u64,
    /// Those that failed.
    pub failures: u64,
    /// Steps of all experiments.
    pub steps: u64,
}

/// The experiments of some draws.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Block {
    /// Draws that were tried.
    pub experiments: u64,
    /// Steps of all experiments.
    pub steps: u64,
    /// The chance of each failure to be tried.
    pub failed: Vec<f64>,
}

/// Runs the study.
///
/// # Errors
/// If environment, policy or predictor cannot be had, an episode has no outcome, or a file cannot be written.
pub fn run(args: &[String]) -> Result<()> {
    let asked = Asked::parse_from(args);
    let subject = asked.played.subject(&asked.played.policy)?;
    let by = Experimenter::new(&subject, asked.seed)?;
    let guide = Guide::open(&asked.predictor, &subject)?;
    let proposal = Proposal { exponent: asked.exponent.unwrap_or(guide.exponent()), ..Proposal::default() };
    let estimation = Estimation::thinned(by, &guide, proposal, (None, None), &context(asked.seed))?;
    let rule = estimation.spec.method.thinning()?.expect("draws are thinned");
    let n = estimation.draws_for(asked.episodes).div_ceil(BLOCK);
    let blocks = context(asked.seed).map(n as usize, "blocks", |i| block(i as u64, &by, &guide, &rule))?;
    let report = Report::of(estimation.spec, &blocks)?;
    let save = |name: &str, text: String| write::atomically(&asked.out.join(name), text.as_bytes());
    save("blocks.json", serde_json::to_string(&blocks)?)?;
    let text = format!("{:#}\n", serde_json::to_value(&report)?);
    print!("{text}");
    save("thinned.json", text)
}

fn block(number: u64, by: &Experimenter<'_>, guide: &Guide, rule: &Thinning) -> Result<Block> {
    let (mut found, mut predictor) = (Block::default(), guide.reader());
    for i in number * BLOCK..(number + 1) * BLOCK {
        let key = by.key("experiment", i);
        let x = by.draw(key);
        let chance = rule.chance(guide.predict(&mut predictor, &x)?);
        if chance < 1.0 && key.child("thinning").rng().uniform() >= chance {
            continue;
        }
        let experiment = by.play(key, &x)?;
        found.experiments += 1;
        found.steps += experiment.steps as u64;
        found.failed.extend(experiment.failed.then_some(chance));
    }
    Ok(found)
}

/// The terms of an estimate that are not zero.
pub fn terms(blocks: &[Block]) -> impl Iterator<Item = f64> + '_ {
    blocks.iter().flat_map(|block| &block.failed).map(|chance| 1.0 / chance)
}

/// The failure probability of some blocks, no term of which is above a bound.
///
/// # Errors
/// If there is no block.
pub fn risk(blocks: &[Block], bound: f64, level: Level) -> Result<Estimate> {
    let mut found = Bounded::new(bound);
    terms(blocks).for_each(|term| found.push(term));
    found.push_zeros(BLOCK as usize * blocks.len() - found.len());
    Ok(found.estimate(level)?)
}

impl Report {
    fn of(run: ExperimentSpec, blocks: &[Block]) -> Result<Report> {
        let sum = |of: fn(&Block) -> u64| blocks.iter().map(of).sum::<u64>();
        Ok(Report {
            risk: risk(blocks, 1.0 / run.method.floor()?, Level::P95)?,
            run,
            draws: BLOCK * blocks.len() as u64,
            experiments: sum(|b| b.experiments),
            failures: sum(|b| b.failed.len() as u64),
            steps: sum(|b| b.steps),
        })
    }

    /// The report and the blocks in the folder of a finished run.
    ///
    /// # Errors
    /// If there are none.
    pub fn read(folder: &Path) -> Result<(Report, Vec<Block>)> {
        Ok((read::json(&folder.join("thinned.json"))?, read::json(&folder.join("blocks.json"))?))
    }
}
