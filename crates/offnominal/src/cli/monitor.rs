//! `monitor`: a fitted detector as a filter, steps in and verdicts out, one JSON line each.

use crate::cli::{Common, Outcome};
use anyhow::{Context, Result};
use clap::Args;
use offnominal_engine::monitor_file;
use offnominal_engine::stream::Stream;
use std::io::{BufRead, Write};
use std::path::PathBuf;

/// What stands below the options.
const LINES: &str = r#"Lines in are objects, either whole transitions or what there is at a tick of the clock:
  {"obs": [0.1, 0.2], "action": [0.5], "next_obs": [0.1, 0.3]}
  {"obs": [0.1, 0.2], "action": [0.5]}
Of the second kind a step is judged when the next observation comes; one without an action ends the episode.
Both kinds may have "reset": true, where an episode begins, and "step": N, which then must grow by one.
A wrong width, a number that is not finite, a missing step or an unknown field ends the program with an error that
names the line."#;

/// Arguments of `monitor`.
#[derive(Debug, Args)]
#[command(after_help = LINES)]
pub struct Monitor {
    /// File written by `fit`
    #[arg(value_name = "FILE.monitor")]
    file: PathBuf,
}

impl Monitor {
    /// Answers every line of standard input until its end.
    ///
    /// # Errors
    /// If the file is not one of a monitor, or something is wrong with a line.
    pub fn run(&self, _: &Common) -> Result<Outcome> {
        let mut stream = Stream::new(monitor_file::open(&self.file)?);
        let (mut input, mut out) = (std::io::stdin().lock(), std::io::stdout().lock());
        let (mut line, mut n_lines) = (Vec::new(), 0_u64);
        while input.read_until(b'\n', &mut line).context("cannot read standard input")? > 0 {
            n_lines += 1;
            let answer = stream.read(&line).with_context(|| format!("standard input, line {n_lines}"))?;
            if let Some(answer) = answer {
                serde_json::to_writer(&mut out, &answer)?;
                writeln!(out)?;
                // Whoever waits for a verdict waits for this step's.
                out.flush()?;
            }
            line.clear();
        }
        Ok(Outcome::Done)
    }
}
