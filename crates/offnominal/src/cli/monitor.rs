//! `monitor`: a fitted detector as a filter, steps or a log in and verdicts out, one JSON line each.

use crate::cli::{Common, Outcome};
use anyhow::{Context, Result, anyhow, ensure};
use clap::Args;
use offnominal_engine::monitor_file;
use offnominal_engine::stream::{Answer, Stream};
use offnominal_logs::{recordings, watch};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::PathBuf;

/// What stands below the options.
const LINES: &str = r#"A monitor that was fitted on logs reads a log as it is recorded: CSV, JSON lines, MCAP, ULog or an Arrow stream.
A verdict is written when a row comes that is later than its step.

Other monitors read lines. They are objects, either whole transitions or what there is at a tick of the clock:
  {"obs": [0.1, 0.2], "action": [0.5], "next_obs": [0.1, 0.3]}
  {"obs": [0.1, 0.2], "action": [0.5]}
Of the second kind a step is judged when the next observation comes; one without an action ends the episode.
Numbers may be given by the channels' names, {"obs": {"level": 0.1, "flow": 0.2}, …}; or a first line says in which
order they come: {"channels": {"obs": ["level", "flow"], "action": ["valve"]}}
A number that was not read is null, or its name is left out; the verdict says how many are missing.
Both kinds may have "reset": true, where an episode begins, and "step": N. Nothing was read in steps that are left out;
a line that comes late or twice is dropped and counted.
A wrong width, an unknown channel, more than 1000 steps left out, an unknown field or a line of more than 1 MiB ends the
program with an error that names the line; so does a reader of the verdicts that has gone away."#;

/// Arguments of `monitor`.
#[derive(Debug, Args)]
#[command(after_help = LINES)]
pub struct Monitor {
    /// File written by `fit`
    #[arg(value_name = "FILE.monitor")]
    file: PathBuf,
    /// Standard input is a log, and this says which of its columns is which channel; else the mapping of the fit
    #[arg(long, value_name = "MAP.toml")]
    map: Option<PathBuf>,
}

impl Monitor {
    /// Answers every line of standard input, or watches the log that comes there, until its end.
    ///
    /// # Errors
    /// If the file is not one of a monitor, or something is wrong with a line or with the log.
    pub fn run(&self, _: &Common) -> Result<Outcome> {
        let monitor = monitor_file::open(&self.file)?;
        if self.map.is_some() || monitor.about().mapping.is_some() {
            let mapping = recordings::mapping_of(monitor.about(), self.map.as_deref())?;
            let input = BufReader::with_capacity(1 << 16, std::io::stdin());
            watch::watch(monitor, &mapping, input, std::io::stdout().lock())?;
            return Ok(Outcome::Done);
        }
        let mut stream = Stream::new(monitor);
        let (mut input, mut out) = (std::io::stdin().lock(), std::io::stdout().lock());
        let (mut line, mut n_lines) = (Vec::new(), 0_u64);
        while next_line(&mut input, &mut line, n_lines + 1)? {
            n_lines += 1;
            let mut told = Ok(());
            let say = |answer: &Answer<'_>| {
                if told.is_ok() {
                    told = tell(&mut out, answer);
                }
            };
            stream.read(&line, say).with_context(|| format!("standard input, line {n_lines}"))?;
            told.map_err(|why| anyhow!("the verdict on line {n_lines} cannot be told: {why}"))?;
        }
        Ok(Outcome::Done)
    }
}

/// The longest line that is read.
const LONGEST: usize = 1 << 20;

/// Reads the next line; false at the end.
fn next_line(input: &mut impl BufRead, line: &mut Vec<u8>, number: u64) -> Result<bool> {
    line.clear();
    // With the line's end, and one byte more that shows that there are too many.
    let n = input.take(LONGEST as u64 + 2).read_until(b'\n', line).context("cannot read standard input")?;
    let len = line.strip_suffix(b"\n").unwrap_or(line).len();
    ensure!(len <= LONGEST, "standard input, line {number}: expected at most {LONGEST} bytes, found more");
    Ok(n > 0)
}

/// Whoever waits for a verdict waits for this step's. That nobody reads it any longer is an error: it is the work of this
/// command.
fn tell(out: &mut impl Write, answer: &Answer<'_>) -> Result<()> {
    serde_json::to_writer(&mut *out, answer)?;
    writeln!(out)?;
    Ok(out.flush()?)
}
