use super::super::counting::planned;
use super::super::toy::repetitions;
use super::*;
use crate::level::normal_cdf;

/// A limit state of standard normal numbers with a known failure probability.
#[derive(Clone, Copy)]
struct Case {
    dimensions: usize,
    p: f64,
    margin: fn(&[f64]) -> f64,
}

fn plane(x: &[f64]) -> f64 {
    3.719_016_485 - x.iter().sum::<f64>() / (x.len() as f64).sqrt()
}

/// The four-branch series system of Waarts (2000), with its branches so much farther out.
fn series(x: &[f64], out: f64) -> f64 {
    let (sum, gap) = ((x[0] + x[1]) / 2.0_f64.sqrt(), x[0] - x[1]);
    (3.0 + 0.1 * gap * gap - sum.abs()).min(7.0 / 2.0_f64.sqrt() - gap.abs()) + out
}

/// A region that holds a tenth of p lies apart from the other.
fn apart(x: &[f64]) -> f64 {
    (3.745_5 - x[0]).min(4.264_9 + x[1])
}

const SERIES: Case = Case { dimensions: 2, p: 2.2228e-3, margin: |x| series(x, 0.0) };

fn planes() -> [Case; 3] {
    [2, 4, 100].map(|dimensions| Case { dimensions, p: 1e-4, margin: plane })
}

fn regions() -> Case {
    let p = 1.0 - normal_cdf(3.745_5) * normal_cdf(4.264_9);
    Case { dimensions: 10, p, margin: apart }
}

/// What a run found: the estimate, by guided experiments and by plain ones.
struct Found {
    guided: Result<Estimate, Refusal>,
    plain: Estimate,
    components: usize,
}

fn run(case: Case, experiments: u64, share: f64, seed: u64) -> Found {
    let (mut rng, mut learner, mut done) = (Rng::new(seed), Learner::default(), 0);
    let (mut weighted, mut failures, mut plain_made) = (Vec::new(), 0, 0);
    while done < experiments {
        let end = (done + block(done)).min(experiments);
        let (mut plain, mut guided) = (Vec::new(), Vec::new());
        let proposal = learner.proposal().clone();
        let part = guided_part(done..end, share);
        for index in done..end {
            let is_guided = is_guided(index, share);
            let from = if is_guided { &proposal } else { &Proposal::PLAIN };
            let z = from.draw(case.dimensions, &mut rng);
            let margin = (case.margin)(&z);
            if proposal.is_ready {
                let weight = 1.0 / chance(part, proposal.ratio(&z));
                weighted.push(Weighted { weight, failed: margin <= 0.0 });
            }
            failures += usize::from(!is_guided && margin <= 0.0);
            if is_guided { &mut guided } else { &mut plain }.push(Seen { z, margin });
        }
        plain_made += plain.len();
        learner.learn(plain, guided, &mut rng);
        done = end;
    }
    let n = weighted.len();
    Found {
        guided: estimate(&weighted, n, (failures, plain_made), Level::P95),
        plain: planned(failures, plain_made, Level::P95).unwrap(),
        components: learner.proposal().components(),
    }
}

/// Gain over counting by experiments times squared error, the share of runs that cover or refuse, and that of refusals.
fn gain(case: Case, experiments: u64, share: f64) -> (f64, f64, f64) {
    let runs = std::env::var("R").map_or(repetitions() as u64 / 4, |r| r.parse().unwrap());
    let (mut squares, mut held, mut refused) = (0.0, 0, 0);
    for seed in 0..runs {
        match run(case, experiments, share, 100 + seed).guided {
            Ok(found) => {
                squares += (found.value / case.p - 1.0).powi(2);
                held += u64::from(found.covers(case.p));
                if std::env::var_os("SHOW").is_some() { println!("   {:.3} [{:.3} {:.3}]", found.value/case.p, found.low/case.p,found.high/case.p); }
            }
            Err(why) => {
                if std::env::var_os("SHOW").is_some() { println!("{why}"); }
                refused += 1;
            }
        }
    }
    let n = (runs - refused) as f64;
    let gain = (1.0 - case.p) / case.p / (experiments as f64 * squares / n);
    (gain, (held + refused) as f64 / runs as f64, refused as f64 / runs as f64)
}

#[test]
fn explore() {
    let far = Case { p: 1e-5, margin: |x| series(x, 1.475_622), ..SERIES };
    for (name, case) in [("2", planes()[0]), ("4", planes()[1]), ("100", planes()[2]), ("series", SERIES), ("far", far), ("apart", regions())] {
        if std::env::var("ONLY").is_ok_and(|only| !only.split(',').any(|o| o == name)) { continue; }
        for (n, share) in [(6000, 0.92), (20_000, 0.92)] {
            let t = std::time::Instant::now();
            let f = run(case, n, share, 1);
            println!("{name} {n} {share} gain, held, refused {:?} components {} {:?}", gain(case, n, share), f.components, t.elapsed());
        }
    }
}
