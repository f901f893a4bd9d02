//! Which share of the experiments should ignore the predictor where a policy is to pass, or to fail, a largest acceptable
//! failure probability? A row of CSV for each truth, predictor and share: experiments until the interval lies on one side
//! of it, the median and the mean of 200 runs, and runs that were right. `counting` is plain counting with its exact sequence.
//!
//! `cargo run --release -p studies -- risk-gate > gate.csv`
//!
//! X is uniform on [0, 1) and fails with the chance ½ exp(−k X). A predictor has the shape of that chance to a power: 1 is
//! right, 0 tells nothing. Whoever looks at every fiftieth more experiment may stop there.

use anyhow::Result;
use offnominal_core::Rng;
use offnominal_core::estimate::Estimate;
use offnominal_stats::Level;
use offnominal_stats::risk::{HorvitzThompson, Thinning, counting};

const RUNS: u64 = 200;
const LIMIT: f64 = 0.01;
const RATE: f64 = 0.1;
const HEIGHT: f64 = 0.5;
const MOST_DRAWS: usize = 400_000;

/// Runs the study.
///
/// # Errors
/// If an argument, or a file that is read or written, is wrong.
pub fn run(_: &[String]) -> Result<()> {
    println!("limit,p,method,predictor,plain_share,runs,right,median,mean");
    for p in [LIMIT / 10.0, LIMIT / 3.0, 2.0 * LIMIT, 4.0 * LIMIT] {
        row(p, "counting,,", |rng| counted(p, rng));
        for sharpness in [0.0, 0.5, 1.0] {
            for plain_share in [0.1, 0.25, 0.5, 0.8, 0.9] {
                let name = format!("thinned,{sharpness},{plain_share}");
                row(p, &name, |rng| decided(p, sharpness, plain_share, rng));
            }
        }
    }
    Ok(())
}

fn row(p: f64, name: &str, run: impl Fn(&mut Rng) -> (usize, bool)) {
    let runs = (0..RUNS).map(|i| run(&mut Rng::new(1000 + i)));
    let (mut costs, rights): (Vec<usize>, Vec<bool>) = runs.unzip();
    costs.sort_unstable();
    let mean = costs.iter().sum::<usize>() as f64 / RUNS as f64;
    let right = rights.iter().filter(|right| **right).count();
    let median = costs[costs.len() / 2];
    println!("{LIMIT},{p:.4},{name},{RUNS},{right},{median},{mean:.0}");
}

/// Plain episodes until the interval lies on one side of the limit, and whether it is the right one.
fn counted(p: f64, rng: &mut Rng) -> (usize, bool) {
    let (mut failures, mut n, mut next) = (0, 0, 50);
    loop {
        failures += usize::from(rng.uniform() < p);
        n += 1;
        if n < next {
            continue;
        }
        next = after(n);
        let risk = counting::sequence(failures, n, Level::P95).expect("there are episodes");
        if let Some(right) = decision(&risk, p) {
            return (n, right);
        }
    }
}

/// The next look after so many experiments.
fn after(n: usize) -> usize {
    n + (n / 50).max(10)
}

/// Whether an interval that lies on one side of the limit lies on the right one.
fn decision(risk: &Estimate, p: f64) -> Option<bool> {
    (risk.high <= LIMIT || risk.low > LIMIT).then_some((risk.high <= LIMIT) == (p <= LIMIT))
}

/// The same of thinned experiments.
fn decided(p: f64, sharpness: f64, plain_share: f64, rng: &mut Rng) -> (usize, bool) {
    let decay = HEIGHT / p;
    let f = |x: f64| (-decay * sharpness * x).exp();
    // The mean of √f over [0, 1).
    let slope = 0.5 * decay * sharpness;
    let mean_power = if slope > 0.0 { (1.0 - (-slope).exp()) / slope } else { 1.0 };
    let rule = Thinning::new(RATE, plain_share, 0.5, mean_power).expect("settings in range");
    let (mut found, mut next) = (HorvitzThompson::new(rule.floor()), 50);
    while found.draws() < MOST_DRAWS {
        let x = rng.uniform();
        let chance = rule.chance(f(x));
        if rng.uniform() >= chance {
            found.skip();
            continue;
        }
        found.record(chance, rng.uniform() < HEIGHT * (-decay * x).exp());
        if found.experiments() < next {
            continue;
        }
        next = after(found.experiments());
        let risk = found.estimate(Level::P95).expect("there are experiments");
        if let Some(right) = decision(&risk, p) {
            return (found.experiments(), right);
        }
    }
    (found.experiments(), false)
}
