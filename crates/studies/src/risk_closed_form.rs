//! Failure probabilities that are known in closed form, by subset simulation and by importance sampling. A row of CSV for
//! each run: case, method, seed, experiments, estimate with its interval (empty where it is refused), and the interval that
//! assumes nothing.
//!
//! `cargo run --release -p studies -- risk-closed-form SEEDS > runs.csv`
//!
//! Limit states of standard normal numbers: a plane, the four-branch series system of Waarts (2000), the same farther out, and
//! two half spaces in ten dimensions of which one has a tenth of p. `studies/risk/closed-form/closed_form.py` has the same ones.

use anyhow::{Context as _, Result};
use offnominal_core::Rng;
use offnominal_core::estimate::Estimate;
use offnominal_stats::Level;
use offnominal_stats::risk::subset::{Margin, Subset};
use offnominal_stats::risk::{Refusal, importance};

/// A limit state.
struct Case {
    name: &'static str,
    d: usize,
    margin: fn(&[f64]) -> f64,
}

const CASES: [Case; 6] = [
    Case { name: "plane, d = 2", d: 2, margin: plane },
    Case { name: "plane, d = 4", d: 4, margin: plane },
    Case { name: "plane, d = 100", d: 100, margin: plane },
    Case { name: "series", d: 2, margin: |z| series(z, 0.0) },
    Case { name: "series, far", d: 2, margin: |z| series(z, 1.475_622_390) },
    Case { name: "apart", d: 10, margin: |z| (3.745_548_593 - z[0]).min(4.264_890_794 + z[1]) },
];

/// Experiments of importance sampling.
const EXPERIMENTS: [u64; 2] = [6000, 20_000];
const PLAIN_SHARE: f64 = 0.92;
/// The swarms of `risk split`.
const SWARMS: usize = 6;
const PLAN: Subset = Subset { particles: 1000, moves: 1, budget: 1_000_000 };

fn plane(z: &[f64]) -> f64 {
    3.719_016_485 - z.iter().sum::<f64>() / (z.len() as f64).sqrt()
}

fn series(z: &[f64], out: f64) -> f64 {
    let (sum, gap) = ((z[0] + z[1]) / 2.0_f64.sqrt(), z[0] - z[1]);
    (3.0 + 0.1 * gap * gap - sum.abs()).min(7.0 / 2.0_f64.sqrt() - gap.abs()) + out
}

impl Margin for &Case {
    type X = Vec<f64>;

    fn draw(&mut self, rng: &mut Rng) -> Vec<f64> {
        (0..self.d).map(|_| rng.normal()).collect()
    }

    fn vary(&mut self, z: &Vec<f64>, step: f64, rng: &mut Rng) -> Option<Vec<f64>> {
        Some(z.iter().map(|z| (1.0 - step * step).sqrt() * z + step * rng.normal()).collect())
    }

    fn covariates<'z>(&self, z: &'z Vec<f64>) -> &'z [f64] {
        z
    }

    fn margin(&mut self, z: &Vec<f64>) -> f64 {
        (self.margin)(z)
    }
}

/// Runs the study.
///
/// # Errors
/// If the number of seeds is none.
pub fn run(args: &[String]) -> Result<()> {
    let seeds: u64 = args.first().context("expected a number of seeds, found none")?.parse()?;
    println!("case,method,seed,experiments,value,low,high,counted_low,counted_high");
    for case in &CASES {
        for seed in 0..seeds {
            let (made, found) = subset(case, &mut Rng::new(seed));
            row(case, "subset", (seed, made), &found, None);
            for n in EXPERIMENTS {
                let (margin, rng) = (&mut |z: &[f64]| (case.margin)(z), &mut Rng::new(seed));
                let found = importance::run(case.d, margin, n, PLAIN_SHARE, Level::P95, rng)?;
                row(case, "importance", (seed, n as usize), &found.assumed, Some(&found.counted));
            }
        }
    }
    Ok(())
}

/// The experiments that swarms made, and what they found.
fn subset(case: &Case, rng: &mut Rng) -> (usize, Result<Estimate, Refusal>) {
    let swarms: Result<Vec<_>, Refusal> = (0..SWARMS).map(|_| PLAN.swarm(&mut &*case, rng)).collect();
    let made = swarms.as_ref().map_or(0, |swarms| swarms.iter().map(|s| s.experiments).sum());
    (made, swarms.and_then(|swarms| Subset::pooled(&swarms, Level::P95)))
}

fn row(
    case: &Case,
    method: &str,
    (seed, made): (u64, usize),
    found: &Result<Estimate, Refusal>,
    counted: Option<&Estimate>,
) {
    let numbers = |e: &Estimate| format!("{:e},{:e},{:e}", e.value, e.low, e.high);
    let found = found.as_ref().map_or(",,".into(), numbers);
    let counted = counted.map_or(",".into(), |e| format!("{:e},{:e}", e.low, e.high));
    println!("\"{}\",{method},{seed},{made},{found},{counted}", case.name);
}
