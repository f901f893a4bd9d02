//! How far apart the false alarms of the rule `run-length` are in autoregressive streams, as a table of CSV.
//!
//! `cargo run --release -p offnominal-stats --example run_lengths -- 200 > run_lengths.csv`, with the number of runs for each
//! line. A run calibrates on a stream of 20,000 or 100,000 steps and watches another until it raises an alarm, for 3 promises
//! at most. The rival `windows` has the conformal threshold on windows of 100 steps, as if they were exchangeable episodes; it
//! needs a calibration as long as the promise.

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

fn threshold(rule: Rule, nominal: &[f64], window: Option<usize>) -> Threshold {
    let streams: Vec<&[f64]> = nominal.chunks_exact(window.unwrap_or(nominal.len())).collect();
    rule.threshold(&streams, Level::P95).expect("the stream is long enough")
}

fn main() {
    let runs: u64 = std::env::args().nth(1).and_then(|n| n.parse().ok()).unwrap_or(20);
    let of = |confidence| Rule::RunLength(RunLength { steps: PROMISED, block: None, confidence });
    let episode = Rule::Conformal(Promise::on_average(WINDOW as f64 / PROMISED));
    let (plain, sure) =
        (("run-length", of(None), None), ("run-length, confidence .95", of(Some(0.95)), None));
    let windows = ("windows", episode, Some(WINDOW));
    let rows = [(plain, 20_000), (sure, 20_000), (plain, 100_000), (sure, 100_000), (windows, 100_000)];
    println!("rule,calibration,phi,runs,promised,exposure_per_alarm,low,high,before_tenth,delay_2sd");
    for ((name, rule, window), calibration) in rows {
        for phi in [0.0, 0.5, 0.9, 0.95, 0.99] {
            let (mut exposure, mut alarms, mut early, mut delay) = (0.0, 0_u32, 0_u32, 0.0);
            for i in 0..runs {
                let seed = Seed(i).child(name).child(calibration as u64).child((phi * 100.0) as u64);
                let nominal: Vec<f64> =
                    Stream::new(phi, seed.child("calibration")).take(calibration).collect();
                let threshold = threshold(rule, &nominal, window);
                let (steps, is_alarm) =
                    until_alarm(&threshold, Stream::new(phi, seed.child("watched")), window, 0.0);
                exposure += steps;
                alarms += u32::from(is_alarm);
                early += u32::from(is_alarm && steps < PROMISED / 10.0);
                delay += until_alarm(&threshold, Stream::new(phi, seed.child("shifted")), window, 2.0).0;
            }
            // Exact for a Poisson number of alarms in what was watched.
            let n = f64::from(alarms);
            let (low, high) = (exposure / upper(n), exposure / lower(n));
            let (per_alarm, runs) = (exposure / n, runs as f64);
            println!(
                "\"{name}\",{calibration},{phi},{runs},{PROMISED},{per_alarm:.0},{low:.0},{high:.0},{:.3},{:.0}",
                f64::from(early) / runs,
                delay / runs
            );
        }
    }
}

/// The 95 % limits of a Poisson mean of which n were seen, by Byar's approximation.
fn upper(n: f64) -> f64 {
    (n + 1.0) * (1.0 - 1.0 / (9.0 * (n + 1.0)) + 1.96 / (3.0 * (n + 1.0).sqrt())).powi(3)
}

fn lower(n: f64) -> f64 {
    if n == 0.0 { 0.0 } else { n * (1.0 - 1.0 / (9.0 * n) - 1.96 / (3.0 * n.sqrt())).powi(3) }
}
