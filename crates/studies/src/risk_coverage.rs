//! Do intervals of failure probabilities keep their promise where the truth is known? A row of CSV for each method, truth
//! and predictor: the share of 2,000 runs whose 95 % interval contains the truth, with its own interval.
//!
//! `cargo run --release -p studies -- risk-coverage > coverage.csv`
//!
//! X is uniform on [0, 1) and fails with the chance ½ exp(−k X), so p is ½ / k but for e⁻ᵏ. A predictor has the shape
//! of that chance to a power: 1 is right, 2 is far too sharp, ½ too blunt. Draws that a method would not try are not
//! drawn one by one: those that it does try are drawn from their distribution. Subset simulation sees the tail of a normal
//! distribution.
//! `error` is the mean estimate's distance from the truth in standard errors; `ratio` is the median upper end over p.

use anyhow::Result;
use offnominal_core::Rng;
use offnominal_core::estimate::Estimate;
use offnominal_stats::Level;
use offnominal_stats::risk::subset::Margin;
use offnominal_stats::risk::{HorvitzThompson, PLAIN_SHARE, Subset, Thinning, counting};

const RUNS: u64 = 2000;
/// Failures to expect of plain counting, and experiments of the other methods.
const EXPECTED: f64 = 10.0;
const EXPERIMENTS: usize = 1000;
const HEIGHT: f64 = 0.5;

/// The environment, and the predictor exp(−k · sharpness · x).
#[derive(Clone, Copy)]
struct Case {
    p: f64,
    sharpness: f64,
}

/// Runs the study.
///
/// # Errors
/// If an argument, or a file that is read or written, is wrong.
pub fn run(_: &[String]) -> Result<()> {
    println!("method,p,predictor,runs,coverage,low,high,error,ratio");
    for exponent in 2..=6 {
        let p = 10.0_f64.powi(-exponent);
        row("counting, planned", p, None, |rng| planned(p, rng));
        row("counting, any time", p, None, |rng| any_time(p, rng));
        row("subset", p, None, |rng| subset(p, rng));
        for sharpness in [0.5, 1.0, 2.0] {
            let case = Case { p, sharpness };
            row("thinned", p, Some(sharpness), |rng| case.thinned(rng));
        }
    }
    Ok(())
}

fn row(method: &str, p: f64, predictor: Option<f64>, run: impl Fn(&mut Rng) -> Estimate) {
    let found: Vec<Estimate> = (0..RUNS).map(|i| run(&mut Rng::new(1000 + i))).collect();
    let n = found.len() as f64;
    let covered = found.iter().filter(|e| e.covers(p)).count();
    let share = counting::planned(covered, found.len(), Level::P95).expect("runs were made");
    let mean = found.iter().map(|e| e.value).sum::<f64>() / n;
    let variance = found.iter().map(|e| (e.value - mean).powi(2)).sum::<f64>() / (n - 1.0);
    let error = (mean - p) / (variance / n).sqrt();
    let mut highs: Vec<f64> = found.iter().map(|e| e.high / p).collect();
    highs.sort_unstable_by(f64::total_cmp);
    let (Estimate { value, low, high, .. }, ratio) = (share, highs[highs.len() / 2]);
    let predictor = predictor.map_or(String::new(), |s| s.to_string());
    println!("\"{method}\",{p:e},{predictor},{RUNS},{value:.4},{low:.4},{high:.4},{error:.2},{ratio:.2}");
}

/// How many of so many draws come true; the gaps between them are drawn.
fn binomial(n: usize, p: f64, rng: &mut Rng) -> usize {
    let (mut at, mut count) = (0.0, 0);
    loop {
        at += 1.0 + ((1.0 - rng.uniform()).ln() / (-p).ln_1p()).floor();
        if at > n as f64 {
            return count;
        }
        count += 1;
    }
}

fn planned(p: f64, rng: &mut Rng) -> Estimate {
    let n = (EXPECTED / p) as usize;
    counting::planned(binomial(n, p, rng), n, Level::P95).expect("episodes were planned")
}

fn any_time(p: f64, rng: &mut Rng) -> Estimate {
    let n = (EXPECTED / p) as usize;
    counting::sequence(binomial(n, p, rng), n, Level::P95).expect("episodes were planned")
}

impl Case {
    /// p = ½ (1 − exp(−k)) / k.
    fn decay(self) -> f64 {
        let first = HEIGHT / self.p;
        (0..50).fold(first, |k, _| HEIGHT * (1.0 - (-k).exp()) / self.p)
    }

    /// The square root of what is predicted at x.
    fn root(self, x: f64) -> f64 {
        (-0.5 * self.sharpness * self.decay() * x).exp()
    }

    /// Its mean over draws.
    fn mean_root(self) -> f64 {
        let k = 0.5 * self.sharpness * self.decay();
        (1.0 - (-k).exp()) / k
    }

    /// A draw that the predictor accepts with the chance [`Case::root`].
    fn accepted(self, rng: &mut Rng) -> f64 {
        let k = 0.5 * self.sharpness * self.decay();
        -(rng.uniform() * (-k).exp_m1()).ln_1p() / k
    }

    fn fails(self, x: f64, rng: &mut Rng) -> bool {
        rng.uniform() < HEIGHT * (-self.decay() * x).exp()
    }

    fn thinned(self, rng: &mut Rng) -> Estimate {
        let mean = self.mean_root();
        // The most dangerous draw is always tried.
        let rate = mean;
        let rule = Thinning::new(rate, PLAIN_SHARE, 0.5, mean).expect("a rate below 1");
        let draws = (EXPERIMENTS as f64 / rate) as usize;
        let tried = binomial(draws, rate, rng);
        let mut found = HorvitzThompson::new(rule.floor());
        found.skip_many(draws - tried);
        for _ in 0..tried {
            let is_plain = rng.uniform() < PLAIN_SHARE;
            let x = if is_plain { rng.uniform() } else { self.accepted(rng) };
            found.record(rule.chance(self.root(x).powi(2)), self.fails(x, rng));
        }
        found.estimate(Level::P95).expect("experiments were made")
    }
}

/// A standard normal number above a limit.
struct Tail(f64);

impl Margin for Tail {
    type X = f64;

    fn draw(&mut self, rng: &mut Rng) -> f64 {
        rng.normal()
    }

    fn vary(&mut self, x: &f64, step: f64, rng: &mut Rng) -> Option<f64> {
        Some((1.0 - step * step).sqrt() * x + step * rng.normal())
    }

    fn covariates<'x>(&self, x: &'x f64) -> &'x [f64] {
        std::slice::from_ref(x)
    }

    fn margin(&mut self, x: &f64) -> f64 {
        self.0 - x
    }
}

fn subset(p: f64, rng: &mut Rng) -> Estimate {
    let limits = [(1e-2, 2.326348), (1e-3, 3.090232), (1e-4, 3.719016), (1e-5, 4.264891), (1e-6, 4.753424)];
    let limit = limits.iter().find(|l| l.0 > 0.9 * p && l.0 < 1.1 * p).expect("a truth of the table").1;
    let plan = Subset { particles: 500, moves: 1, budget: 1_000_000 };
    let swarm = |_| plan.swarm(&mut Tail(limit), rng).expect("a tail without ties");
    let swarms: Vec<_> = (0..10).map(swarm).collect();
    Subset::pooled(&swarms, Level::P95).expect("ten swarms that agree")
}
