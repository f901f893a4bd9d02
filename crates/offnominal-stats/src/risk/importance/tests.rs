//! Importance sampling where the truth is known.

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
    (3.745_549 - x[0]).min(4.264_891 + x[1])
}

const PLANE: Case = Case { dimensions: 4, p: 1e-4, margin: plane };
/// By numerical integration over one of both directions, the other in closed form.
const SERIES: Case = Case { dimensions: 2, p: 2.2228e-3, margin: |x| series(x, 0.0) };

fn regions() -> Case {
    Case { dimensions: 10, p: 1.0 - normal_cdf(3.745_549) * normal_cdf(4.264_891), margin: apart }
}

/// Runs; the gain over counting by experiments times squared error, the share of runs that do not miss the truth, and the
/// share that refuses.
fn runs(case: Case, experiments: u64, n: u64) -> (f64, f64, f64) {
    let (mut squares, mut held, mut refused) = (0.0, 0, 0);
    for seed in 0..n {
        let margin = &mut |z: &[f64]| (case.margin)(z);
        let rng = &mut Rng::new(100 + seed);
        match run(case.dimensions, margin, experiments, 0.92, Level::P95, rng).unwrap().assumed {
            Ok(found) => {
                squares += (found.value / case.p - 1.0).powi(2);
                held += u64::from(found.covers(case.p));
            }
            Err(_) => refused += 1,
        }
    }
    let n = n as f64;
    let gain = (1.0 - case.p) / case.p / (experiments as f64 * squares / (n - refused as f64));
    (gain, (held + refused) as f64 / n, refused as f64 / n)
}

#[test]
fn a_plane_gains_far_more_than_a_hundredfold() {
    let (gain, held, refused) = runs(PLANE, 6000, repetitions() as u64 / 20);
    assert!(gain > 200.0 && held >= 0.8 && refused < 0.2, "{gain} {held} {refused}");
}

#[test]
fn many_dimensions_four_branches_and_a_region_apart_are_met() {
    let wide = Case { dimensions: 30, ..PLANE };
    let far = Case { p: 1e-5, margin: |x| series(x, 1.475_622), ..SERIES };
    for (case, experiments, least) in
        [(wide, 6000, 200.0), (SERIES, 6000, 5.0), (far, 20_000, 100.0), (regions(), 20_000, 100.0)]
    {
        let (gain, held, refused) = runs(case, experiments, repetitions() as u64 / 40);
        assert!(gain > least && held >= 0.8 && refused < 0.3, "{}: {gain} {held} {refused}", case.p);
    }
}

#[test]
fn a_share_of_any_first_experiments_is_plain() {
    for (share, n) in [(0.92, 1000), (0.5, 7), (0.1, 33), (0.999, 5000)] {
        let plain = (0..n).filter(|&index| !is_guided(index, share)).count() as f64;
        assert!(plain >= share * n as f64 && plain < share * n as f64 + 1.0, "{share} {n} {plain}");
    }
    assert_eq!(guided_part(0..1000, 0.92), 0.08);
    assert!((chance(0.08, 3.0) - 1.16).abs() < 1e-12 && chance(0.5, 0.0) == 0.5);
}

#[test]
fn a_draw_has_the_density_that_is_said() {
    // The mean weight of what fails in half of P, drawn from the proposal, is a half.
    let (mut learner, mut rng) = (Learner::default(), Rng::new(5));
    for _ in 0..2 {
        let seen = |rng: &mut Rng| {
            let z = Proposal::PLAIN.draw(3, rng);
            Seen { margin: 1.5 - z[0], z }
        };
        let plain = (0..400).map(|_| seen(&mut rng)).collect();
        learner.learn(plain, vec![], &mut rng);
    }
    let proposal = learner.proposal();
    assert!(proposal.is_ready && learner.ready_from().is_none() && proposal.components() >= 1);
    let n = 20_000;
    let term = |_| {
        let z = proposal.draw(3, &mut rng);
        if z[0] > 1.5 { 1.0 / proposal.ratio(&z) } else { 0.0 }
    };
    let mean = (0..n).map(term).sum::<f64>() / f64::from(n);
    assert!((mean / (1.0 - normal_cdf(1.5)) - 1.0).abs() < 0.03, "{mean}");
}

#[test]
fn far_numbers_overflow_nothing() {
    let c = mixture::Component { share: 1.0, direction: vec![1.0], mean: 4.0, sd: 1.5 };
    let g = mixture::Mixture { components: vec![c] };
    assert!(g.ratio(&[60.0]).is_finite() && g.ratio(&[-60.0]).is_finite());
}

#[test]
fn plain_experiments_deny_what_missed_a_region() {
    let sample: Vec<Weighted> = (0..1000)
        .map(|i| Weighted { weight: if i % 10 == 0 { 0.5 } else { 1.0556 }, failed: i % 10 == 0 })
        .collect();
    let found = estimate(&sample, 1000, (50, 1000), Level::P95).unwrap();
    assert!((found.value - 0.05).abs() < 1e-12 && found.method == "importance-normal", "{found:?}");
    let error = estimate(&sample, 1000, (200, 1000), Level::P95).unwrap_err().to_string();
    assert!(error.contains("a region of failures was not met"), "{error}");
}

#[test]
fn the_same_seed_gives_the_same_bits() {
    let once = || run(2, &mut |z: &[f64]| series(z, 0.0), 3000, 0.9, Level::P95, &mut Rng::new(3)).unwrap();
    assert_eq!(once(), once());
}
