//! `monitor`: a fitted detector as a filter, steps or a log in and verdicts out, one JSON line each.

use super::command::{Answer, Call, asked};
use super::terminal::Terminal;
use anyhow::{Context, Result, anyhow, bail, ensure};
use clap::{ArgMatches, Args, Command};
use offnominal_engine::monitor_file;
use offnominal_engine::progress::Progress;
use offnominal_live::stream::Stream;
use offnominal_live::{Address, Live, Settings};
use offnominal_logs::{recordings, watch};
use offnominal_monitor::VerdictLine;
use std::env::VarError;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// What stands below the options.
const LINES: &str = r#"Standard input is a log, or JSON lines (docs/howto/monitor.md) such as
  {"obs": [0.1, 0.2], "action": [0.5]}"#;

/// Arguments of `monitor`.
#[derive(Debug, Args)]
pub struct Monitor {
    /// File of `fit`
    #[arg(value_name = "FILE.monitor")]
    file: PathBuf,
    /// Mapping of the log's columns to channels [default: that of the fit]
    #[arg(long, value_name = "MAP.toml")]
    map: Option<PathBuf>,
    /// Group of the episodes, such as a task [default: from the log]
    #[arg(long, value_name = "NAME")]
    group: Option<String>,
    /// Live page, and /metrics for Prometheus; port 0 is any
    #[arg(long, value_name = "ADDRESS:PORT")]
    serve: Option<String>,
    /// Access token, 16 characters or more [default: variable OFFNOMINAL_TOKEN]
    #[arg(long, requires = "serve")]
    token: Option<String>,
    /// At each alarm write the last SECONDS as .arrow and .mcap
    #[arg(long, value_name = "SECONDS")]
    record: Option<f64>,
    /// Write observations, actions and verdicts to a new MCAP file
    #[arg(long, value_name = "FILE")]
    mcap: Option<PathBuf>,
    /// Folder for --record [default: runs/monitor]
    #[arg(long, value_name = "DIR", requires = "record")]
    out: Option<PathBuf>,
}

/// The declaration, with what the lines are.
pub fn declare(line: Command) -> Command {
    Monitor::augment_args(line).after_help(LINES)
}

/// Watches what comes on standard input.
pub fn run(matches: &ArgMatches, call: &Call) -> Result<Answer> {
    asked::<Monitor>(matches)?.watch(call.context.strict)
}

impl Monitor {
    /// Answers every line of standard input, or watches the log that comes there, until its end.
    ///
    /// # Errors
    /// If the file is not one of a monitor, something is wrong with a line or with the log, or with what is written beside
    /// the verdicts.
    fn watch(&self, is_strict: bool) -> Result<Answer> {
        let settings = self.beside()?;
        let monitor = monitor_file::open(&self.file)?;
        let mapping = match self.map.is_some() || monitor.about().mapping.is_some() {
            true => Some(recordings::mapping_of(monitor.about(), self.map.as_deref())?),
            false => None,
        };
        let notes: Arc<dyn Progress> = Arc::new(Terminal);
        let mut live = Live::open(settings, &self.file, monitor.about(), &notes)?;
        let group = self.group.clone();
        let Some(mapping) = mapping else {
            ensure!(!is_strict, "--strict: expected a log on standard input (--map), found lines");
            return answer(Stream::with(monitor, group, live));
        };
        let input = BufReader::with_capacity(1 << 16, std::io::stdin());
        let watched =
            watch::watch(monitor, group, (&mapping, is_strict), input, std::io::stdout().lock(), &mut live);
        // What happened before an error is kept too.
        let finished = live.finish();
        finished?;
        match watched? {
            0 => {}
            n => notes.note(&format!("{n} rows were dropped: they came too late or twice, or their time lay far ahead of the others")),
        }
        Ok(Answer::nothing())
    }

    /// What else becomes of the verdicts.
    fn beside(&self) -> Result<Settings> {
        let token = match std::env::var(TOKEN) {
            _ if self.token.is_some() => self.token.clone(),
            Ok(token) => Some(token),
            Err(VarError::NotPresent) => None,
            Err(VarError::NotUnicode(_)) => bail!("{TOKEN}: expected visible ASCII characters, found others"),
        };
        let serve = self.serve.as_ref().map(|at| Address::new(at, token.as_deref())).transpose()?;
        let span = |secs: f64| {
            Duration::try_from_secs_f64(secs)
                .map_err(|_| anyhow!("record: expected a number of seconds, found {secs}"))
        };
        let out = self.out.clone().unwrap_or_else(|| "runs/monitor".into());
        let record = self.record.map(span).transpose()?.map(|span| (span, out));
        Ok(Settings { serve, record, mcap: self.mcap.clone() })
    }
}

/// The variable that may hold the token, so that it is not among the arguments that everybody sees.
const TOKEN: &str = "OFFNOMINAL_TOKEN";

/// Answers every line of standard input.
fn answer(mut stream: Stream) -> Result<Answer> {
    let answered = answer_lines(&mut stream);
    // What happened before an error is kept too.
    let finished = stream.finish();
    answered.and(finished).map(|()| Answer::nothing())
}

fn answer_lines(stream: &mut Stream) -> Result<()> {
    let (mut input, mut out) = (std::io::stdin().lock(), std::io::stdout().lock());
    let (mut line, mut n_lines) = (Vec::new(), 0_u64);
    while next_line(&mut input, &mut line, n_lines + 1)? {
        n_lines += 1;
        let mut told = Ok(());
        let say = |answer: &VerdictLine<'_>| {
            if told.is_ok() {
                told = tell(&mut out, answer);
            }
        };
        stream.read(&line, say).with_context(|| format!("standard input, line {n_lines}"))?;
        told.map_err(|why| anyhow!("the verdict on line {n_lines} cannot be told: {why}"))?;
    }
    Ok(())
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
fn tell(out: &mut impl Write, answer: &VerdictLine<'_>) -> Result<()> {
    serde_json::to_writer(&mut *out, answer)?;
    writeln!(out)?;
    Ok(out.flush()?)
}
