//! Does `compare` keep its promise, and what do pairs save? A row of CSV for each two policies and metric.
//!
//! `cargo run --release -p studies -- compare-power > studies/compare/power.csv`
//!
//! Pairs are played once; what follows draws from them. *Type I*: 1,000 comparisons of two policies that are equally
//! good, made by exchanging the policies of each drawn pair by the toss of a coin, with a look after each of 1,000 pairs;
//! the share in which any look finds a difference, with its interval. *Power*: comparisons with a look after every 25
//! pairs, as the command has them, and more rarely beyond 1,250; `paired` and `unpaired` are the pairs after which 80 % of them have found the
//! difference, where both policies have the same seed and where they have not, by the same test. `ratio` is one over the
//! other; its interval is a bootstrap over the pairs that were played.

use anyhow::Result;
use offnominal_core::{Rng, Seed};
use offnominal_engine::subject::Subject;
use offnominal_risk::compare::pair::{Pair, Players};
use offnominal_risk::compare::quantity::{Condition, Judged, Quantity};
use offnominal_stats::Level;
use offnominal_stats::paired::{Mean, saving};
use offnominal_stats::risk::counting;
use std::path::Path;

const SEED: u64 = 1;
/// Comparisons of equally good policies, and the pairs of each.
const REPETITIONS: u64 = 1000;
const LOOKS: usize = 1000;
/// Comparisons of different policies, pairs between two looks, and pairs at the most.
const RUNS: usize = 200;
const BLOCK: usize = 25;
const MOST: usize = 400_000;
/// Draws of the bootstrap.
const REPLICATES: usize = 100;

/// Two policies in an environment, how many pairs are played, and what is compared.
struct Case {
    env: &'static str,
    old: &'static str,
    new: &'static str,
    pairs: u64,
    metrics: &'static [Quantity],
}

const CASES: [Case; 7] = [
    Case {
        env: "driving",
        old: "driving-tqc/policies/002775000",
        new: "driving-tqc/policies/003000000",
        pairs: 4000,
        metrics: &[Quantity::Failure, Quantity::Return],
    },
    Case {
        env: "driving",
        old: "driving-tqc/policies/002325000",
        new: "driving-tqc/policies/003000000",
        pairs: 4000,
        metrics: &[Quantity::Failure, Quantity::Return],
    },
    Case {
        env: "driving",
        old: "driving-tqc/policies/000600000",
        new: "driving-tqc/policies/003000000",
        pairs: 4000,
        metrics: &[Quantity::Return],
    },
    Case {
        env: "humanoid-stand",
        old: "humanoid-stand-tqc/policies/000375000",
        new: "humanoid-stand-tqc/policies/000500000",
        pairs: 400,
        metrics: &[Quantity::Failure, Quantity::Return],
    },
    Case {
        env: "humanoid-stand",
        old: "humanoid-stand-tqc/policies/000500000",
        new: "humanoid-stand-tqc/policies/000562500",
        pairs: 400,
        metrics: &[Quantity::Failure, Quantity::Return],
    },
    Case {
        env: "sap-goal0",
        old: "sap-goal0-sac",
        new: "sap-goal0-tqc",
        pairs: 2000,
        metrics: &[Quantity::Return],
    },
    Case {
        env: "urm-reach",
        old: "urm-reach-sac",
        new: "urm-reach-tqc",
        pairs: 600,
        metrics: &[Quantity::Return],
    },
];

/// Runs the study.
///
/// # Errors
/// If an argument, or a file that is read or written, is wrong.
pub fn run(_: &[String]) -> Result<()> {
    println!(
        "env,old,new,metric,pairs,difference,correlation,correlation_low,correlation_high,type_1,type_1_low,type_1_high,\
         paired,unpaired,ratio,ratio_low,ratio_high,variance_ratio,variance_ratio_low,variance_ratio_high"
    );
    CASES.iter().try_for_each(rows)
}

fn rows(case: &Case) -> Result<()> {
    let file = |name: &str| {
        let agents = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../agents");
        agents.join(format!("{name}.safetensors")).display().to_string()
    };
    let (old, new) = (Subject::new(case.env, &file(case.old))?, Subject::new(case.env, &file(case.new))?);
    let players = Players {
        subjects: [&old, &new],
        anomaly: None,
        twin: false,
        monitors: None,
        seed: Seed(SEED).child("compare"),
        allow_diverged: 0,
    };
    let played: Vec<Pair> = (0..case.pairs).map(|i| players.pair(i)).collect::<Result<_>>()?;
    case.metrics.iter().try_for_each(|&quantity| row(case, quantity, &played))
}

fn row(case: &Case, quantity: Quantity, played: &[Pair]) -> Result<()> {
    let judged = Judged { quantity, condition: Condition::Nominal, return_range: None, env: case.env.into() };
    let values: Vec<Option<[f64; 2]>> =
        played.iter().map(|pair| judged.values(pair)).collect::<Result<_>>()?;
    let all: Vec<[f64; 2]> = values.into_iter().flatten().collect();
    let (old, new): (Vec<f64>, Vec<f64>) = all.iter().map(|[old, new]| (*old, *new)).unzip();
    let saved = saving(&old, &new, Level::P95, Seed(SEED))?;
    let found =
        (0..REPETITIONS).filter(|&i| finds_what_is_not_there(&judged, &all, &mut Rng::new(1000 + i))).count();
    let wrong = counting::planned(found, REPETITIONS as usize, Level::P95)?;
    let [paired, unpaired] = [true, false].map(|together| pairs_needed(&judged, &all, together, 1));
    let mut ratios: Vec<f64> = (0..REPLICATES as u64).map(|i| replicate(&judged, &all, i)).collect();
    ratios.sort_unstable_by(f64::total_cmp);
    let name = |policy: &str| policy.rsplit('/').next().unwrap_or_default().to_string();
    let difference = all.iter().map(|[old, new]| new - old).sum::<f64>() / all.len() as f64;
    let (c, v, ratio) = (saved.correlation, saved.ratio, paired as f64 / unpaired as f64);
    print!(
        "{},{},{},{},{},{difference:.4}",
        case.env,
        name(case.old),
        name(case.new),
        <&str>::from(quantity),
        all.len()
    );
    print!(
        ",{:.3},{:.3},{:.3},{:.3},{:.3},{:.3}",
        c.value, c.low, c.high, wrong.value, wrong.low, wrong.high
    );
    print!(
        ",{paired},{unpaired},{ratio:.3},{:.3},{:.3}",
        ratios[REPLICATES / 40],
        ratios[REPLICATES - 1 - REPLICATES / 40]
    );
    println!(",{:.3},{:.3},{:.3}", v.value, v.low, v.high);
    Ok(())
}

/// Whether any look finds a difference between policies that are equally good.
fn finds_what_is_not_there(judged: &Judged, all: &[[f64; 2]], rng: &mut Rng) -> bool {
    let mut gains = judged.mean_of_gains();
    (0..LOOKS).any(|_| {
        let [old, new] = all[rng.below(all.len())];
        gains.push(if rng.uniform() < 0.5 { new - old } else { old - new });
        is_decided(&gains)
    })
}

fn is_decided(gains: &Mean) -> bool {
    gains.is_above(0.0, Level::P95) || gains.is_below(0.0, Level::P95)
}

/// The ratio if other pairs had been played.
fn replicate(judged: &Judged, all: &[[f64; 2]], number: u64) -> f64 {
    let mut rng = Rng::new(50_000 + number);
    let drawn: Vec<[f64; 2]> = all.iter().map(|_| all[rng.below(all.len())]).collect();
    let needed = |together| pairs_needed(judged, &drawn, together, 100 + number) as f64;
    needed(true) / needed(false)
}

/// Pairs after which 80 % of the comparisons are decided.
fn pairs_needed(judged: &Judged, all: &[[f64; 2]], together: bool, seed: u64) -> usize {
    let run = |i: usize| pairs_of_one(judged, all, together, &mut Seed(seed).child(i).rng());
    let mut needed: Vec<usize> = (0..RUNS).map(run).collect();
    needed.sort_unstable();
    needed[RUNS * 4 / 5 - 1]
}

/// Pairs after which one comparison is decided. A look after each block, and where there are many pairs already, after one
/// more of them in fifty.
fn pairs_of_one(judged: &Judged, all: &[[f64; 2]], together: bool, rng: &mut Rng) -> usize {
    let mut gains = judged.mean_of_gains();
    let (mut n, mut look) = (0, BLOCK);
    while n < MOST {
        let i = rng.below(all.len());
        let k = if together { i } else { rng.below(all.len()) };
        gains.push(all[k][1] - all[i][0]);
        n += 1;
        if n == look {
            if is_decided(&gains) {
                return n;
            }
            look += BLOCK.max(n / 50);
        }
    }
    MOST
}
