//! How many trials until recorded successes are told apart, and how often by mistake? A row of CSV for each method and case.
//!
//! `cargo run --release -p studies -- compare-trials > studies/compare/trials.csv`
//!
//! Independent trials of two policies with known success rates; somebody looks after each pair. `planned` knows the largest
//! number of trials, `betting` does not, and is cut off there. Both are one-sided with error 0.05, as the published cases of
//! STEP are. `worst` is the largest probability of `planned` to decide falsely over 999 rates that both policies have, by
//! enumeration. `needed` is the number that `compare` states for a difference, and how often a comparison (two-sided, 95 %)
//! has decided by then; `family` the share of comparisons of five tasks that decide a task without a difference, and
//! `found`, of the two tasks that differ, those that closed testing and that Bonferroni decides.

use anyhow::Result;
use offnominal_core::estimate::Estimate;
use offnominal_core::{Rng, Seed};
use offnominal_stats::paired::betting::{Side, Terms};
use offnominal_stats::paired::family;
use offnominal_stats::paired::needed::Plan;
use offnominal_stats::paired::planned::Planned;
use offnominal_stats::proportion::clopper_pearson;
use offnominal_stats::{Level, mean};

const SEED: u64 = 1;
/// Comparisons of each case.
const RUNS: usize = 10_000;
const ALPHA: f64 = 0.05;
/// The largest numbers of trials.
const PLANS: [usize; 3] = [50, 100, 200];
/// Success rates of OLD and NEW: first the published cases of STEP (table IV), then others, then equal ones.
const CASES: [(f64, f64); 15] = [
    (0.56, 0.92),
    (0.28, 0.80),
    (0.084, 0.386),
    (0.40, 0.564),
    (0.0, 0.03),
    (0.3, 0.5),
    (0.5, 0.7),
    (0.1, 0.3),
    (0.8, 0.95),
    (0.02, 0.02),
    (0.1, 0.1),
    (0.3, 0.3),
    (0.5, 0.5),
    (0.7, 0.7),
    (0.9, 0.9),
];
/// Rates that numbers of pairs are stated for.
const STATED: [(f64, f64); 5] = [(0.2, 0.8), (0.3, 0.6), (0.5, 0.7), (0.6, 0.72), (0.85, 0.95)];
/// Tasks of a family, pairs of each, and rates of those that differ.
const TASKS: usize = 5;
const PAIRS: usize = 50;
const DIFFER: (f64, f64) = (0.3, 0.65);

/// Prints the rows.
pub fn run(_: &[String]) -> Result<()> {
    println!("method,most,old,new,trials,trials_low,trials_high,decided,decided_low,decided_high,runs");
    for most in PLANS {
        let plan = Planned::new(most, ALPHA);
        let table = Wins::new(most, (1.0 / ALPHA).ln());
        for rates in CASES {
            let first = |pairs: &[(bool, bool)]| plan.first(pairs.iter().copied());
            row("planned", most, rates, first)?;
            row("betting", most, rates, |pairs| table.first(pairs))?;
        }
        let error = |i: u32| plan.power(f64::from(i) * 1e-3, f64::from(i) * 1e-3).0;
        let worst = (1..1000).map(error).fold(0.0, f64::max);
        println!("worst,{most},,,,,,{worst:.5},,,");
    }
    STATED.into_iter().try_for_each(needed)?;
    [0, 2].into_iter().try_for_each(families)
}

/// The trials of a method in a case, cut off at the largest number, and the share that it decides.
fn row(
    method: &str,
    most: usize,
    rates: (f64, f64),
    first: impl Fn(&[(bool, bool)]) -> Option<usize>,
) -> Result<()> {
    let found: Vec<Option<usize>> = (0..RUNS).map(|i| first(&draw(rates, most, i, "trials"))).collect();
    let trials: Vec<f64> = found.iter().map(|n| n.unwrap_or(most) as f64).collect();
    let trials = mean::student_t(&trials, Level::P95)?;
    print(method, most, rates, Some(&trials), found.iter().flatten().count(), RUNS)
}

fn print(
    method: &str,
    most: usize,
    (old, new): (f64, f64),
    trials: Option<&Estimate>,
    decided: usize,
    runs: usize,
) -> Result<()> {
    let share = clopper_pearson(decided, runs, Level::P95)?;
    let trials = trials.map_or(",,".into(), |e| format!("{:.3},{:.3},{:.3}", e.value, e.low, e.high));
    let share = format!("{:.4},{:.4},{:.4}", share.value, share.low, share.high);
    println!("{method},{most},{old},{new},{trials},{share},{runs}");
    Ok(())
}

fn draw((old, new): (f64, f64), n: usize, run: usize, of: &str) -> Vec<(bool, bool)> {
    let mut rng: Rng = Seed(SEED).child(of).child(run as u64).rng();
    (0..n).map(|_| (rng.uniform() < old, rng.uniform() < new)).collect()
}

/// The wins that decide for each number of losses, by betting on more wins than losses.
struct Wins(Vec<usize>);

impl Wins {
    fn new(most: usize, limit: f64) -> Wins {
        let decides = |wins: usize, losses: usize| {
            let mut terms = Terms::new(1.0);
            terms.push_times(1.0, wins as u64);
            terms.push_times(-1.0, losses as u64);
            terms.evidence(0.0, Side::Above) >= limit
        };
        let least = |losses: usize| (losses..=most).find(|&wins| decides(wins, losses)).unwrap_or(most + 1);
        Wins((0..=most).map(least).collect())
    }

    fn first(&self, pairs: &[(bool, bool)]) -> Option<usize> {
        let (mut wins, mut losses) = (0, 0);
        let decided = pairs.iter().position(|&(old, new)| {
            wins += usize::from(new && !old);
            losses += usize::from(old && !new);
            wins >= self.0[losses]
        });
        decided.map(|at| at + 1)
    }
}

/// The number that is stated for a difference, and the share of comparisons that it decides.
fn needed((old, new): (f64, f64)) -> Result<()> {
    let stated = Plan::of_rates(old, new, Level::P95, 0.8).pairs(Seed(0)).unwrap_or_default() as usize;
    let table = Wins::new(stated, -Level::P95.tail().ln());
    let runs = RUNS / 5;
    let decides = |i: &usize| table.first(&draw((old, new), stated, *i, "needed")).is_some();
    print("needed", stated, (old, new), None, (0..runs).filter(decides).count(), runs)
}

/// Five tasks, of which so many differ.
fn families(differ: usize) -> Result<()> {
    let limit = -Level::P95.tail().ln();
    let [mut wrong, mut closed, mut single] = [0; 3];
    for run in 0..RUNS {
        let terms: Vec<Terms> = (0..TASKS).map(|task| of_task(task < differ, run * TASKS + task)).collect();
        let logs = |side| terms.iter().map(|t| t.evidence(0.0, side)).collect::<Vec<f64>>();
        let [above, below] = [Side::Above, Side::Below].map(logs);
        let [more, less] = [&above, &below].map(|logs| family::adjusted(logs));
        let is_wrong = |task: usize| less[task] >= limit || (task >= differ && more[task] >= limit);
        wrong += usize::from((0..TASKS).any(is_wrong));
        closed += more[..differ].iter().filter(|log| **log >= limit).count();
        single += above[..differ].iter().filter(|log| **log >= limit + (TASKS as f64).ln()).count();
    }
    print(&format!("family, {differ} differ"), PAIRS, DIFFER, None, wrong, RUNS)?;
    if differ > 0 {
        print("found, closed testing", PAIRS, DIFFER, None, closed, differ * RUNS)?;
        print("found, Bonferroni", PAIRS, DIFFER, None, single, differ * RUNS)?;
    }
    Ok(())
}

fn of_task(differs: bool, run: usize) -> Terms {
    let rates = if differs { DIFFER } else { (0.5, 0.5) };
    let mut terms = Terms::new(1.0);
    draw(rates, PAIRS, run, "family")
        .iter()
        .for_each(|&(old, new)| terms.push(f64::from(u8::from(new)) - f64::from(u8::from(old))));
    terms
}
