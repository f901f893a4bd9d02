//! What do low-fidelity episodes save, and do the intervals hold? A row of CSV for each failure probability p, correlation and
//! number K of fresh low-fidelity episodes per high-fidelity one, from 1,000 repetitions.
//!
//! `cargo run --release -p studies -- multifidelity > studies/risk/multifidelity.csv`
//!
//! Both simulators fail with the chance p, with the given correlation of outcomes. After every 25 pairs somebody looks,
//! and stops at the first look at which the 95 % interval is at most 0.6 p wide, or after 8,000 pairs. Two others stop by the
//! same rule and have high-fidelity episodes alone: `counting`, with the exact sequence of counting, and `betting`, with the very bets
//! of `multifidelity`, which are those of a range of [−1, 2]. Such bets are narrower than counting at these p, so that what
//! low-fidelity episodes save is told against both.
//!
//! | column        | what                                                                                        |
//! |---------------|---------------------------------------------------------------------------------------------|
//! | coverage      | share of the repetitions whose interval contains p where they stop                          |
//! | ever          | share of the repetitions in which no look has ever excluded p                               |
//! | dear          | mean number of high-fidelity episodes until the stop                                                 |
//! | saved         | 1 − dear / that of betting; intervals of this and the next two resample repetitions         |
//! | counting      | 1 − dear / that of counting                                                                 |
//! | variance      | mean over repetitions of Var Z / Var Y at the stop                                          |
//! | best          | the smallest ratio of variances that the correlation allows                                 |
//! | horizon       | repetitions that ended at 8,000 pairs                                                       |

use anyhow::Result;
use offnominal_core::estimate::Estimate;
use offnominal_core::{Rng, Seed};
use offnominal_stats::Level;
use offnominal_stats::bootstrap::{Bootstrap, Range};
use offnominal_stats::paired::betting::Terms;
use offnominal_stats::risk::counting;
use offnominal_stats::risk::multifidelity::{Multifidelity, saving};

const RUNS: u64 = 1000;
const BLOCK: usize = 25;
const HORIZON: usize = 8000;
/// Width at which one stops, as a share of p.
const WIDTH: f64 = 0.6;

/// Both simulators, and how many fresh low-fidelity episodes there are; none is counting.
#[derive(Clone, Copy)]
struct Case {
    p: f64,
    correlation: f64,
    per_dear: usize,
}

/// Where a repetition stopped.
struct Stop {
    n: f64,
    covers: bool,
    ever_missed: bool,
    ratio: f64,
}

/// Runs the study.
///
/// # Errors
/// If an argument, or a file that is read or written, is wrong.
pub fn run(_: &[String]) -> Result<()> {
    println!(
        "method,p,correlation,per_dear,runs,coverage,coverage_low,coverage_high,ever,ever_low,ever_high,dear,saved,saved_low,\
         saved_high,counting,counting_low,counting_high,variance,variance_low,variance_high,best,horizon"
    );
    for p in [0.05, 0.2] {
        let alone = Case { p, correlation: 0.0, per_dear: 0 };
        let counted = repeated(|rng| count(p, rng));
        let bet = repeated(|rng| bets(p, rng));
        row("counting", alone, &counted, [&bet, &counted]);
        row("betting", alone, &bet, [&bet, &counted]);
        for correlation in [0.0, 0.3, 0.6, 0.8, 0.95] {
            for per_dear in [1, 5, 10] {
                let case = Case { p, correlation, per_dear };
                row("multifidelity", case, &repeated(|rng| case.run(rng)), [&bet, &counted]);
            }
        }
    }
    Ok(())
}

fn repeated(run: impl Fn(&mut Rng) -> Stop) -> Vec<Stop> {
    (0..RUNS).map(|i| run(&mut Rng::new(1000 + i))).collect()
}

fn row(method: &str, case: Case, found: &[Stop], alone: [&[Stop]; 2]) {
    let share = |holds: fn(&Stop) -> bool| {
        let n = found.iter().filter(|stop| holds(stop)).count();
        triple(&counting::planned(n, found.len(), Level::P95).expect("runs were made"))
    };
    let plan = Bootstrap::new(1000, Level::P95, Seed(1));
    let mean = |of: &[Stop], w: &[u32], value: fn(&Stop) -> f64| {
        let total: f64 = w.iter().map(|&w| f64::from(w)).sum();
        of.iter().zip(w).map(|(stop, &w)| value(stop) * f64::from(w)).sum::<f64>() / total
    };
    // Repetitions of both have the same seeds, but share no outcomes: each is resampled with the same weights as a pair.
    let both = |w: &[u32]| {
        let dear = mean(found, w, |stop| stop.n);
        let [saved, counting] = alone.map(|of| 1.0 - dear / mean(of, w, |stop| stop.n));
        Some([dear, saved, counting, mean(found, w, |stop| stop.ratio)])
    };
    let [dear, saved, counting, variance] = plan
        .estimates("high-fidelity episodes", found.len(), [Range::Real; 4], both)
        .expect("runs were made");
    let Case { p, correlation, per_dear } = case;
    let best = if per_dear == 0 { 1.0 } else { 1.0 - saving(correlation, per_dear) };
    let ends = found.iter().filter(|stop| stop.n >= HORIZON as f64).count();
    println!(
        "{method},{p},{correlation},{per_dear},{RUNS},{},{},{:.1},{},{},{},{best:.4},{ends}",
        share(|stop| stop.covers),
        share(|stop| !stop.ever_missed),
        dear.value,
        triple(&saved),
        triple(&counting),
        triple(&variance)
    );
}

fn triple(found: &Estimate) -> String {
    format!("{:.4},{:.4},{:.4}", found.value, found.low, found.high)
}

fn fails(chance: f64, rng: &mut Rng) -> f64 {
    f64::from(rng.uniform() < chance)
}

/// Counts high-fidelity failures alone.
fn count(p: f64, rng: &mut Rng) -> Stop {
    let (mut failures, mut ever_missed) = (0.0, false);
    for n in (BLOCK..=HORIZON).step_by(BLOCK) {
        (0..BLOCK).for_each(|_| failures += fails(p, rng));
        let found = counting::sequence(failures as usize, n, Level::P95).expect("there are episodes");
        ever_missed |= !found.covers(p);
        if is_over(&found, p, n) {
            return Stop { n: n as f64, covers: found.covers(p), ever_missed, ratio: 1.0 };
        }
    }
    unreachable!("the horizon ends it")
}

/// Bets on high-fidelity outcomes alone, as if they lay in [−1, 2].
fn bets(p: f64, rng: &mut Rng) -> Stop {
    let (mut terms, mut ever_missed) = (Terms::new(1.5), false);
    for n in (BLOCK..=HORIZON).step_by(BLOCK) {
        (0..BLOCK).for_each(|_| terms.push(fails(p, rng) - 0.5));
        let found = terms.estimate(Level::P95).expect("there are episodes");
        let covers = found.covers(p - 0.5);
        ever_missed |= !covers;
        if is_over(&found, p, n) {
            return Stop { n: n as f64, covers, ever_missed, ratio: 1.0 };
        }
    }
    unreachable!("the horizon ends it")
}

fn is_over(found: &Estimate, p: f64, n: usize) -> bool {
    found.high - found.low <= WIDTH * p || n >= HORIZON
}

impl Case {
    fn run(self, rng: &mut Rng) -> Stop {
        let (mut pairs, mut ever_missed) = (Multifidelity::new(self.per_dear), false);
        for n in (BLOCK..=HORIZON).step_by(BLOCK) {
            (0..BLOCK).for_each(|_| self.push(&mut pairs, rng));
            ever_missed |= pairs.is_above(self.p, Level::P95) || pairs.is_below(self.p, Level::P95);
            if pairs.is_within(WIDTH * self.p, Level::P95) || n >= HORIZON {
                let covers = pairs.estimate(Level::P95).expect("there are pairs").covers(self.p);
                let ratio = pairs.ratio().unwrap_or(1.0);
                return Stop { n: n as f64, covers, ever_missed, ratio };
            }
        }
        unreachable!("the horizon ends it")
    }

    /// One pair: both fail with the chance p, and their outcomes have the correlation.
    fn push(self, pairs: &mut Multifidelity, rng: &mut Rng) {
        let cheap = fails(self.p, rng);
        let dear = fails(self.p + self.correlation * (cheap - self.p), rng);
        let fresh: Vec<f64> = (0..self.per_dear).map(|_| fails(self.p, rng)).collect();
        pairs.push(dear, cheap, &fresh);
    }
}
