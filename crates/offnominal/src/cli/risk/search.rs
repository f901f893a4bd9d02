//! `risk search`: what finding one failure costs.

mod table;

use crate::cli::Common;
use crate::cli::one_of::one_of;
use crate::cli::risk::Outcome;
use crate::cli::shifts::Below;
use anyhow::{Result, ensure};
use clap::Args;
use offnominal_engine::subject::Cast;
use offnominal_files::write;
use offnominal_risk::search::{self, Aids, Found, Hunt, Spec, Strategy};
use offnominal_risk::{Guide, Lab, learning};
use offnominal_stats::Level;
use serde_json::{Value, json};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;
use table::{Cost, Row, Table};

/// Arguments of `risk search`.
#[derive(Debug, Args)]
pub struct SearchArgs {
    /// World id (see `list envs`)
    #[arg(long)]
    env: String,
    /// A policy, as for `risk estimate`, or a folder of them; may be repeated, to compare agents
    #[arg(long, required = true)]
    policy: Vec<String>,
    #[command(flatten)]
    below: Below,
    /// Where to look; may be repeated, to compare strategies
    #[arg(long, value_parser = one_of::<Strategy>(), required = true)]
    strategy: Vec<Strategy>,
    /// The predictor that `risk learn` wrote
    #[arg(long, value_name = "FILE")]
    predictor: Option<PathBuf>,
    /// The history that `train --history` or `risk history` wrote
    #[arg(long, value_name = "FILE")]
    history: Option<PathBuf>,
    /// Number of searches per policy
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    searches: u32,
    /// Experiments after which a search gives up
    #[arg(long, default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(1..))]
    budget: u32,
    /// Draws of which argmax takes the most dangerous; may be repeated, to compare
    #[arg(long, value_name = "N", default_values_t = [1000], value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    of: Vec<u32>,
    /// Spend the whole budget of each search, to find many failures and not only the first
    #[arg(long)]
    all: bool,
    /// Confidence level of the intervals, between 0 and 1
    #[arg(long, default_value_t = 0.95)]
    level: f64,
}

/// One strategy with its setting.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Way {
    strategy: Strategy,
    of: u32,
}

impl Way {
    /// How tables call it, and its folder.
    fn name(self) -> String {
        let name = search::name(self.strategy);
        if self.strategy == Strategy::Argmax { format!("{name}-{}", self.of) } else { name }
    }
}

impl SearchArgs {
    /// Searches, writes what was found, and prints what it cost.
    ///
    /// # Errors
    /// If something the strategy needs is missing or wrong, or a file cannot be written.
    pub fn run(&self, common: &Common) -> Result<Outcome> {
        let level = Level::try_from(self.level)?;
        let (policies, ways) = (crate::cli::risk::policies(&self.policy)?, self.ways());
        let (top, mut table, mut secs) = (common.out_or("risk-search"), Table::default(), Vec::new());
        for &way in &ways {
            let folder = if ways.len() == 1 { top.clone() } else { top.join(way.name()) };
            let mut row = Row { way: way.name(), costs: Vec::new() };
            for (i, policy) in policies.iter().enumerate() {
                let folder =
                    if policies.len() == 1 { folder.clone() } else { folder.join(format!("policy-{i}")) };
                let begun = Instant::now();
                let found = self.of_one(policy, way, &folder, common)?;
                secs.push(
                    json!({ "strategy": row.way, "policy": policy, "secs": begun.elapsed().as_secs_f64() }),
                );
                write::atomically(&folder.join("failures.json"), &failures(&found)?)?;
                let is_steady = matches!(way.strategy, Strategy::Random | Strategy::Argmax);
                row.costs.push(Cost::of(policy, &found, is_steady, self.budget as usize, level)?);
            }
            table.rows.push(row);
        }
        self.write(&top, &table, &secs, common)?;
        Ok(Outcome::Done)
    }

    /// The strategies, argmax once for each number of draws.
    fn ways(&self) -> Vec<Way> {
        let each = |&strategy: &Strategy| {
            let n = if strategy == Strategy::Argmax { self.of.len() } else { 1 };
            self.of[..n].iter().map(move |&of| Way { strategy, of })
        };
        self.strategy.iter().flat_map(each).collect()
    }

    /// Writes and prints the table; times, which differ from run to run, have a file of their own.
    fn write(&self, top: &Path, table: &Table, secs: &[Value], common: &Common) -> Result<()> {
        let value = json!({ "env": self.env, "budget": self.budget, "strategies": table.as_json() });
        write::atomically(&top.join("search.json"), format!("{value:#}\n").as_bytes())?;
        write::atomically(&top.join("timing.json"), format!("{:#}\n", Value::from(secs)).as_bytes())?;
        let mut out = std::io::stdout().lock();
        if common.json {
            writeln!(out, "{value:#}")?;
            return Ok(());
        }
        writeln!(out, "{}, searches of up to {} experiments", self.env, self.budget)?;
        table.print(&mut out)
    }

    fn of_one(&self, policy: &str, way: Way, folder: &Path, common: &Common) -> Result<Vec<Found>> {
        let cast = Cast::new(&self.env, policy)?;
        let change = self.below.change(cast.env.spec())?;
        let cast = cast.shifted_by(change)?;
        let lab = Lab::new(&cast, common.seed)?;
        let predictor = self.predictor.as_deref().filter(|_| reads_predictor(way.strategy, &cast));
        let guide = predictor.map(|path| Guide::open(path, &cast)).transpose()?;
        let history = self.history.as_deref().filter(|_| way.strategy == Strategy::Replay);
        let history = history.map(|p| learning::read(p, cast.env.spec())).transpose()?;
        if let Some(history) = &history {
            ensure!(history.failures() > 0, "--history: expected failures to replay, found none");
        }
        let spec = Spec {
            env: self.env.clone(),
            policy: cast.name.clone(),
            seed: common.seed,
            strategy: way.strategy,
            of: way.of as usize,
            budget: self.budget as usize,
            all: self.all,
            predictor: guide.as_ref().map(|g| g.digest.clone()),
            past_failures: history.as_ref().map(offnominal_agents::History::failures),
            shifted: cast.shifted.clone(),
        };
        let aids = Aids { guide: guide.as_ref(), history: history.as_ref() };
        Hunt::new(lab, aids, spec)?.run(folder, self.searches as usize, &common.context())
    }
}

/// Whether a strategy looks at a predictor in this world.
fn reads_predictor(strategy: Strategy, cast: &Cast) -> bool {
    match strategy {
        Strategy::Random | Strategy::Replay => false,
        Strategy::Argmax => true,
        Strategy::CrossEntropy | Strategy::Elites => cast.env.failure_search().margin().is_none(),
    }
}

/// The initial conditions that failed, with the number of their search.
fn failures(found: &[Found]) -> Result<Vec<u8>> {
    let of_one = |(i, f): (usize, &Found)| {
        let one = |failure: &offnominal_risk::Failure| json!({ "search": i, "key": failure.key, "initial": failure.x });
        f.failures.iter().map(one).collect::<Vec<_>>()
    };
    let all: Vec<Value> = found.iter().enumerate().flat_map(of_one).collect();
    Ok(serde_json::to_vec_pretty(&all)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Command {
        #[command(flatten)]
        args: SearchArgs,
    }

    #[test]
    fn argmax_is_compared_with_itself_and_other_strategies_stand_once() {
        let words = "risk --env w --policy p --strategy random --strategy argmax --of 10 --of 100";
        let command = Command::try_parse_from(words.split(' ')).unwrap();
        let names: Vec<String> = command.args.ways().into_iter().map(Way::name).collect();
        assert_eq!(names, ["random", "argmax-10", "argmax-100"]);
    }
}
