//! Mutates the seeds of every reader for a time, and reports what a reader did not survive.
//!
//! Each target has a process of its own, with a limit on its memory; one that dies or does not answer is a defect, and
//! the next mutant goes to a new process. Mutants that are defects are written to a folder. Ends with 1 if there are any.

use anyhow::{Context, Result, bail};
use clap::Parser;
use offnominal_readers::{TARGETS, Target, mutate, run, seeds, target};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// Mutants that one process gets.
const ROUND: u64 = 1_000;

/// Kilobytes of address space of a process.
const ADDRESSES: u64 = 8 << 20;

/// Mutates what readers read, and reports what they do not survive
#[derive(Parser)]
struct Options {
    /// Time after which no further round begins
    #[arg(long, default_value_t = 60)]
    seconds: u64,
    /// Mutants after which no further round begins
    #[arg(long, default_value_t = u64::MAX)]
    mutants: u64,
    /// Seed of the mutants
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Only these targets
    #[arg(long)]
    target: Vec<String>,
    /// Folder for mutants that are defects
    #[arg(long, default_value = "fuzz/defects")]
    defects: PathBuf,
    /// Writes the seeds of all targets, or of those that are named, and ends
    #[arg(long)]
    write_seeds: bool,
    /// The first mutant of this process
    #[arg(long, hide = true)]
    child: Option<u64>,
}

/// What became of the mutants of a target.
#[derive(Default)]
struct Tally {
    mutants: u64,
    accepted: u64,
    peak: u64,
    slowest: u64,
    defects: u64,
}

fn main() -> Result<()> {
    let options = Options::parse();
    let targets = chosen(&options)?;
    if options.write_seeds {
        return targets.iter().try_for_each(|target| write_seeds(target));
    }
    if let Some(from) = options.child {
        let seeds = [seeds::read(targets[0]), seeds::refused(targets[0])].concat();
        let range = (from, options.mutants);
        return Ok(run::child(targets[0], &seeds, options.seed, range, &mut std::io::stdout().lock())?);
    }
    let tallies = all(&options, &targets)?;
    let (mutants, defects) =
        tallies.iter().fold((0, 0), |(n, bad), tally| (n + tally.mutants, bad + tally.defects));
    println!(
        "{:18} {:>9} {:>9} {:>10} {:>8} {:>7}",
        "target", "mutants", "accepted", "peak MB", "ms", "defects"
    );
    for (target, t) in targets.iter().zip(&tallies) {
        let megabytes = t.peak as f64 / 1e6;
        println!(
            "{:18} {:>9} {:>9} {megabytes:>10.1} {:>8} {:>7}",
            target.name, t.mutants, t.accepted, t.slowest, t.defects
        );
    }
    println!("{mutants} mutants, {defects} defects");
    if defects > 0 {
        bail!("{} holds the mutants that a reader did not survive", options.defects.display());
    }
    Ok(())
}

fn chosen(options: &Options) -> Result<Vec<&'static Target>> {
    if options.target.is_empty() {
        return Ok(TARGETS.iter().collect());
    }
    let names = || TARGETS.iter().map(|t| t.name).collect::<Vec<_>>().join(", ");
    let find =
        |name: &String| target(name).with_context(|| format!("expected one of {}, found {name}", names()));
    options.target.iter().map(find).collect()
}

fn write_seeds(target: &Target) -> Result<()> {
    let folder = offnominal_readers::corpus().join(target.name);
    std::fs::create_dir_all(&folder)?;
    for (name, bytes) in seeds::made(target) {
        println!("{}/{name}: {} bytes", target.name, bytes.len());
        std::fs::write(folder.join(name), bytes)?;
    }
    Ok(())
}

/// Rounds of all targets in turn, until the time or the mutants are used up.
fn all(options: &Options, targets: &[&'static Target]) -> Result<Vec<Tally>> {
    let until = Instant::now() + Duration::from_secs(options.seconds);
    let mut tallies: Vec<Tally> = targets.iter().map(|_| Tally::default()).collect();
    let mut made = 0;
    while made < options.mutants && Instant::now() < until {
        for (target, tally) in targets.iter().zip(&mut tallies) {
            if made < options.mutants && Instant::now() < until {
                made += round(options, target, tally)?;
            }
        }
    }
    Ok(tallies)
}

/// One round of a target; returns the number of mutants.
fn round(options: &Options, target: &Target, tally: &mut Tally) -> Result<u64> {
    let (first, last) = (tally.mutants, tally.mutants + ROUND);
    let mut next = first;
    while next < last {
        next = watch(options, target, tally, (next, last))?;
    }
    tally.mutants = last;
    Ok(last - first)
}

/// Follows a process from its first mutant on; returns the one after the last that it was given.
fn watch(options: &Options, target: &Target, tally: &mut Tally, (from, to): (u64, u64)) -> Result<u64> {
    let (mut child, lines) = spawn(options, target, (from, to))?;
    let mut at = from;
    loop {
        let line = match lines.recv_timeout(run::MOST_TIME + Duration::from_secs(20)) {
            Ok(line) => line,
            Err(why) => {
                let is_endless = why == RecvTimeoutError::Timeout;
                let _ = child.kill();
                let status = child.wait()?;
                let what = if is_endless { "endless".into() } else { format!("died, {status}") };
                defect(options, target, tally, at, &what)?;
                return Ok(at + 1);
            }
        };
        let mut words = line.splitn(3, ' ');
        let mut word = || words.next().unwrap_or_default().to_string();
        match (word().as_str(), word(), word()) {
            ("begin", index, _) => at = index.parse()?,
            ("done", accepted, rest) => {
                let (peak, slowest) = rest.split_once(' ').context("a last line of three numbers")?;
                tally.accepted += accepted.parse::<u64>()?;
                tally.peak = tally.peak.max(peak.parse()?);
                tally.slowest = tally.slowest.max(slowest.parse()?);
                child.wait()?;
                return Ok(to);
            }
            (kind, index, why) => defect(options, target, tally, index.parse()?, &format!("{kind}: {why}"))?,
        }
    }
}

/// A process for some mutants, and its lines.
fn spawn(options: &Options, target: &Target, (from, to): (u64, u64)) -> Result<(Child, Receiver<String>)> {
    let program = std::env::current_exe()?;
    let arguments = [
        ["--child".to_string(), from.to_string()],
        ["--mutants".into(), to.to_string()],
        ["--seed".into(), options.seed.to_string()],
        ["--target".into(), target.name.into()],
    ];
    let mut command = Command::new("sh");
    command.args(["-c", &format!("ulimit -v {ADDRESSES}; exec \"$@\""), "sh"]).arg(program);
    let mut child = command.args(arguments.as_flattened()).stdout(Stdio::piped()).spawn()?;
    let (sender, lines) = channel();
    let out = BufReader::new(child.stdout.take().context("a pipe")?);
    std::thread::spawn(move || {
        for line in out.lines().map_while(std::io::Result::ok) {
            if sender.send(line).is_err() {
                return;
            }
        }
    });
    Ok((child, lines))
}

/// Writes the mutant and says what it did.
fn defect(options: &Options, target: &Target, tally: &mut Tally, index: u64, what: &str) -> Result<()> {
    tally.defects += 1;
    let bytes = mutate::mutant(target, &seeds::read(target), options.seed, index);
    let path: &Path = &options.defects.join(format!("{}-{}-{index}", target.name, options.seed));
    std::fs::create_dir_all(&options.defects)?;
    std::fs::write(path, bytes).with_context(|| path.display().to_string())?;
    println!("{}: {what} ({})", target.name, path.display());
    Ok(())
}
