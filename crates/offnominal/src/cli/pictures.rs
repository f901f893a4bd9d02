//! `images score`: its answer, or every step as CSV.

use super::command::{Answer, Call, asked};
use anyhow::Result;
use clap::{Arg, ArgAction, ArgMatches, Args, Command};
use offnominal_bench::images::score::{Request, Scored, run};

/// The request with the option that prints steps.
pub fn with_csv(line: Command) -> Command {
    let csv = Arg::new("csv").long("csv").action(ArgAction::SetTrue).conflicts_with("json");
    let csv = csv.help("Print every step of every episode and twin as CSV, which `metrics` reads");
    Request::augment_args(line.arg(csv))
}

/// How well anomalous steps are told from those of the twins.
pub fn score(matches: &ArgMatches, call: &Call) -> Result<Answer> {
    let found = run(&asked(matches)?, &call.context)?;
    if matches.get_flag("csv") { as_csv(&found) } else { call.answer(&found) }
}

fn as_csv(found: &Scored) -> Result<Answer> {
    let mut out = csv::Writer::from_writer(std::io::stdout().lock());
    out.write_record(["episode", "step", "score", "label"])?;
    for (i, (scores, labels)) in found.scores.iter().enumerate() {
        for (step, (score, label)) in scores.iter().zip(labels).enumerate() {
            out.serialize((i, step, score, u8::from(*label)))?;
        }
    }
    out.flush()?;
    Ok(Answer::nothing())
}
