//! How far apart the false alarms of the rule `run-length` are in autoregressive streams, as a table of CSV.
//!
//! `cargo run --release -p studies -- run-lengths 60 > run_lengths.csv`, with the number of runs for each
//! line. A run calibrates on a stream of 20,000 or 100,000 steps and watches another until it raises an alarm, for 3 promises
//! at most. The rival `windows` has the conformal threshold on windows of 100 steps, as if they were exchangeable episodes; it
//! needs a calibration as long as the promise.

use anyhow::Result;
use offnominal_core::{Rng, Seed};
use offnominal_stats::{Level, Promise, Rule, RunLength, Threshold, Watch};

const PROMISED: f64 = 100_000.0;
const WINDOW: usize = 100;

/// A stationary autoregression of order one.
struct Stream {
    phi: f64,
    x: f64,
    rng: Rng,
}

impl Stream {
    fn new(phi: f64, seed: Seed) -> Stream {
        let mut rng = seed.rng();
        Stream { phi, x: rng.normal(), rng }
    }
}

impl Iterator for Stream {
    type Item = f64;

    fn next(&mut self) -> Option<f64> {
        self.x = self.phi * self.x + (1.0 - self.phi * self.phi).sqrt() * self.rng.normal();
        Some(self.x)
    }
}

/// Steps until the first alarm; those that were watched if there was none.
fn until_alarm(threshold: &Threshold, stream: Stream, window: Option<usize>, shift: f64) -> (f64, bool) {
    let mut watch = Watch::new(threshold);
    for (t, x) in stream.take(3 * PROMISED as usize).enumerate() {
        if window.is_some_and(|window| t % window == 0) {
            watch.reset();
        }
        if watch.exceeds(x + shift) {
            return ((t + 1) as f64, true);
        }
    }
    (3.0 * PROMISED, false)
}

/// The threshold, if the stream is long enough for it.
fn threshold(rule: Rule, nominal: &[f64], window: Option<usize>) -> Option<Threshold> {
    let streams: Vec<&[f64]> = nominal.chunks_exact(window.unwrap_or(nominal.len())).collect();
    rule.threshold(&streams, Level::P95).ok()
}

/// A way to set a threshold: its name, the rule, and the window after which it begins anew.
type Way = (&'static str, Rule, Option<usize>);

/// What became of a calibration: steps until the first alarm, whether there was one, and the delay at a shift.
struct Run {
    steps: f64,
    is_alarm: bool,
    delay: f64,
}

impl Run {
    fn new((_, rule, window): Way, calibration: usize, phi: f64, seed: Seed) -> Option<Run> {
        let stream = |what: &str| Stream::new(phi, seed.child(what));
        let nominal: Vec<f64> = stream("calibration").take(calibration).collect();
        let threshold = threshold(rule, &nominal, window)?;
        let (steps, is_alarm) = until_alarm(&threshold, stream("watched"), window, 0.0);
        let (delay, _) = until_alarm(&threshold, stream("shifted"), window, 2.0);
        Some(Run { steps, is_alarm, delay })
    }
}

fn line(way: Way, calibration: usize, phi: f64, runs: u64) -> String {
    let seed = |i: u64| Seed(i).child(way.0).child(calibration as u64).child((phi * 100.0) as u64);
    let all: Vec<Run> = (0..runs).filter_map(|i| Run::new(way, calibration, phi, seed(i))).collect();
    let n = all.len() as f64;
    let (exposure, delay) =
        (all.iter().map(|r| r.steps).sum::<f64>(), all.iter().map(|r| r.delay).sum::<f64>());
    let alarms = all.iter().filter(|r| r.is_alarm).count() as f64;
    let early = all.iter().filter(|r| r.is_alarm && r.steps < PROMISED / 10.0).count() as f64;
    format!(
        "\"{}\",{calibration},{phi},{n},{PROMISED},{:.0},{:.0},{:.0},{:.3},{:.0}",
        way.0,
        exposure / alarms,
        exposure / upper(alarms),
        exposure / lower(alarms),
        early / n,
        delay / n
    )
}

/// Runs the study.
///
/// # Errors
/// If an argument, or a file that is read or written, is wrong.
pub fn run(args: &[String]) -> Result<()> {
    let runs: u64 = args.first().map_or(Ok(20), |n| n.parse())?;
    let of = |confidence| Rule::RunLength(RunLength { steps: PROMISED, block: None, confidence });
    let episode = Rule::Conformal(Promise::on_average(WINDOW as f64 / PROMISED));
    let plain: Way = ("run-length", of(None), None);
    let sure: Way = ("run-length with confidence .95", of(Some(0.95)), None);
    let windows: Way = ("windows", episode, Some(WINDOW));
    // Where fewer runs are told, the calibration of the others was too short.
    println!("rule,calibration,phi,runs,promised,exposure_per_alarm,low,high,before_tenth,delay_2sd");
    for (way, calibration) in
        [(plain, 20_000), (sure, 20_000), (plain, 100_000), (sure, 100_000), (windows, 100_000)]
    {
        for phi in [0.0, 0.5, 0.9, 0.95, 0.99] {
            println!("{}", line(way, calibration, phi, runs));
        }
    }
    Ok(())
}

/// The 95 % limits of a Poisson mean of which n were seen, by Byar's approximation.
fn upper(n: f64) -> f64 {
    (n + 1.0) * (1.0 - 1.0 / (9.0 * (n + 1.0)) + 1.96 / (3.0 * (n + 1.0).sqrt())).powi(3)
}

fn lower(n: f64) -> f64 {
    if n == 0.0 { 0.0 } else { n * (1.0 - 1.0 / (9.0 * n) - 1.96 / (3.0 * n.sqrt())).powi(3) }
}
