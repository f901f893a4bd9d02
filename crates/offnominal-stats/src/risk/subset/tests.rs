//! Subset simulation where the truth is known.

use super::super::toy::{assert_covers_in, repetitions};
use super::*;
use crate::level::normal_cdf;

/// Fails where a function of standard normal numbers is zero or less.
#[derive(Clone, Copy)]
struct Normals {
    dimensions: usize,
    margin: fn(&[f64]) -> f64,
    /// What is taken off the margin.
    limit: f64,
    /// Margins are rounded down to multiples of this, if it is positive.
    grain: f64,
    /// λ of all moves, if it is not adapted.
    fixed: Option<f64>,
}

impl Margin for Normals {
    type X = Vec<f64>;

    fn draw(&mut self, rng: &mut Rng) -> Vec<f64> {
        (0..self.dimensions).map(|_| rng.normal()).collect()
    }

    fn vary(&mut self, x: &Vec<f64>, step: f64, rng: &mut Rng) -> Option<Vec<f64>> {
        let step = self.fixed.unwrap_or(step);
        Some(x.iter().map(|v| (1.0 - step * step).sqrt() * v + step * rng.normal()).collect())
    }

    fn covariates<'x>(&self, x: &'x Vec<f64>) -> &'x [f64] {
        x
    }

    fn margin(&mut self, x: &Vec<f64>) -> f64 {
        let margin = self.limit + (self.margin)(x);
        if self.grain > 0.0 { (margin / self.grain).floor() * self.grain } else { margin }
    }
}

/// −Σ x / √d: fails with the probability Φ(−limit) in any number of dimensions.
fn plane(dimensions: usize, limit: f64) -> Normals {
    let margin = |x: &[f64]| -x.iter().sum::<f64>() / (x.len() as f64).sqrt();
    Normals { dimensions, margin, limit, grain: 0.0, fixed: None }
}

const PLAN: Subset = Subset { particles: 400, moves: 1, budget: 1_000_000 };

/// Asserts that intervals hold, where a refusal does not miss; at most one run in so many may be refused.
#[track_caller]
fn assert_covers(truth: f64, problem: Normals, one_in: usize) {
    // A swarm takes a hundredth of a second.
    let (n, mut refused) = (repetitions() / 10, 0);
    assert_covers_in(n, truth, |rng| {
        run(PLAN, problem, rng).unwrap_or_else(|_| {
            refused += 1;
            Level::P95.estimate(0.5, (0.0, 1.0), 1, "refused")
        })
    });
    assert!(refused * one_in <= n, "{refused} of {n} refused");
}

fn run(plan: Subset, problem: Normals, rng: &mut Rng) -> Result<Estimate, Refusal> {
    let swarms: Result<Vec<Swarm>, Refusal> = (0..8).map(|_| plan.swarm(&mut { problem }, rng)).collect();
    Subset::pooled(&swarms?, Level::P95)
}

#[test]
fn planes_are_covered_in_few_and_in_many_dimensions() {
    for (dimensions, limit) in [(1, 2.3263), (2, 3.719), (30, 3.719)] {
        let p = 1.0 - normal_cdf(limit);
        assert_covers(p, plane(dimensions, limit), 30);
    }
}

#[test]
fn a_ball_and_two_ways_to_fail_are_covered() {
    // P(|x| > 6) in eight dimensions is the upper incomplete gamma function at 4 and 18.
    let ball = statrs::function::gamma::gamma_ur(4.0, 18.0);
    let outside = |x: &[f64]| -x.iter().map(|v| v * v).sum::<f64>().sqrt();
    let aside = |x: &[f64]| -x[0].abs();
    for (p, margin, limit) in
        [(ball, outside as fn(&[f64]) -> f64, 6.0), (2.0 * (1.0 - normal_cdf(3.9)), aside, 3.9)]
    {
        assert_covers(p, Normals { margin, limit, ..plane(8, 0.0) }, 30);
    }
}

#[test]
fn a_region_apart_that_holds_a_tenth_is_covered() {
    let margin = |x: &[f64]| (3.746 - x[0]).min(4.265 + x[1]);
    let p = 1.0 - normal_cdf(3.746) * normal_cdf(4.265);
    assert_covers(p, Normals { margin, ..plane(10, 0.0) }, 30);
}

/// The four-branch series system of Waarts (2000), so far out.
fn series(x: &[f64], out: f64) -> f64 {
    let (sum, gap) = ((x[0] + x[1]) / 2.0_f64.sqrt(), x[0] - x[1]);
    (3.0 + 0.1 * gap * gap - sum.abs()).min(7.0 / 2.0_f64.sqrt() - gap.abs()) + out
}

#[test]
fn the_gain_over_counting_is_that_of_the_field() {
    let series = |margin| Normals { margin, ..plane(2, 0.0) };
    let far = series(|x| self::series(x, 1.475_622_39));
    for (problem, p, goal) in [
        (plane(2, 3.719), 1.0 - normal_cdf(3.719), 30.0),
        (series(|x| self::series(x, 0.0)), 2.2228e-3, 3.5),
        (far, 1e-5, 50.0),
    ] {
        let mut rng = Rng::new(1);
        let swarms: Vec<Swarm> =
            (0..repetitions() / 4).map(|_| PLAN.swarm(&mut { problem }, &mut rng).unwrap()).collect();
        let n = swarms.len() as f64;
        let steps = swarms.iter().map(|s| s.experiments).sum::<usize>() as f64 / n;
        let variance = swarms.iter().map(|s| (s.value / p - 1.0).powi(2)).sum::<f64>() / n;
        let bias = swarms.iter().map(|s| s.value / p - 1.0).sum::<f64>() / n;
        let gain = 1.0 / p / (steps * variance);
        println!("{gain:.1} of {goal}: {steps} steps, bias {bias:.3} ± {:.3}", (variance / n).sqrt());
        assert!(gain > goal, "{gain}: {steps} steps, variance {variance}");
    }
}

#[test]
fn moves_that_do_not_forget_widen_the_interval() {
    let lazy = Normals { fixed: Some(0.03), ..plane(2, 3.719) };
    let p = 1.0 - normal_cdf(3.719);
    let ratio = |problem| {
        let found = run(PLAN, problem, &mut Rng::new(3));
        found.map_or(f64::INFINITY, |e| e.high / e.low)
    };
    assert!(ratio(lazy) > 2.0 * ratio(plane(2, 3.719)));
    assert_covers(p, lazy, 1);
}

#[test]
fn a_budget_that_ends_too_early_leaves_an_upper_bound() {
    let short = Subset { budget: 700, ..PLAN };
    let found = run(short, plane(2, 5.0), &mut Rng::new(1)).unwrap();
    assert!(found.low == 0.0 && found.high > 0.01 && found.n <= 8 * 700, "{found:?}");
}

#[test]
fn ties_and_chains_that_stick_are_refused() {
    let ties = run(PLAN, Normals { grain: 3.0, ..plane(2, 6.0) }, &mut Rng::new(1));
    assert!(matches!(ties, Err(Refusal::Ties { .. })), "{ties:?}");
    let stuck = run(PLAN, Normals { fixed: Some(1.0), ..plane(2, 5.0) }, &mut Rng::new(1));
    assert!(matches!(stuck, Err(Refusal::Stuck { .. })), "{stuck:?}");
}

#[test]
fn swarms_of_which_few_say_most_are_refused() {
    let of = |values: &[f64]| {
        let swarm = |&value: &f64| Swarm { value, levels: 3, experiments: 1000, has_failed: true };
        Subset::pooled(&values.iter().map(swarm).collect::<Vec<_>>(), Level::P95)
    };
    let found = of(&[1e-4, 1.2e-4, 0.9e-4, 1.1e-4]).unwrap();
    assert!(found.low > 0.7e-4 && found.high < 1.5e-4, "{found:?}");
    assert!(of(&[1e-4]).is_err());
    let error = of(&[1e-4, 1e-6, 2e-6, 1e-6]).unwrap_err().to_string();
    assert!(error.starts_with("the 4 swarms say as little as 1.1 "), "{error}");
}

#[test]
fn a_series_system_is_covered() {
    let margin = |x: &[f64]| series(x, 0.0);
    assert_covers(2.2228e-3, Normals { margin, ..plane(2, 0.0) }, 30);
}
