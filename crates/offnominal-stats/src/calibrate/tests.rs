//! Searches on response curves whose crossings are known.

use super::*;
use offnominal_core::Seed;

const TARGETS: [f64; 4] = [0.99, 0.90, 0.75, 0.50];

fn search(grid: Grid, neutral: f64, ceiling: f64) -> Search {
    let targets = TARGETS.to_vec();
    let first = (ceiling - neutral).abs() / 64.0;
    Search {
        neutral,
        first,
        ceiling,
        grid,
        targets,
        pilot: 16,
        budget: 20_000,
        tolerance: 0.25,
        level: Level::P95,
    }
}

/// How episodes with the mean score f differ from one another.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Noise {
    /// Mostly each episode's own frailty, at every magnitude the same.
    Shared,
    /// New at each magnitude, as in a chaotic environment.
    Fresh,
    /// Nothing, or total failure.
    Crash,
}

struct Environment<F> {
    response: F,
    seed: Seed,
    noise: Noise,
}

impl<F: Fn(f64) -> f64> Environment<F> {
    fn new(seed: u64, response: F) -> Environment<F> {
        Environment { response, seed: Seed(seed), noise: Noise::Shared }
    }

    fn score(&self, i: usize, magnitude: f64) -> f64 {
        let (mut rng, mut fresh) =
            (self.seed.child(i).rng(), self.seed.child(i).child(magnitude.to_bits()).rng());
        let (skill, frailty, luck) = (1.0 + 0.05 * rng.normal(), rng.normal(), fresh.normal());
        let f = (self.response)(magnitude);
        // No noise without loss: an undisturbed episode is its own twin.
        let spread = 0.3 * (f * (1.0 - f)).max(0.0).sqrt();
        match self.noise {
            Noise::Shared => f * skill + spread * (0.8 * frailty + 0.6 * luck),
            Noise::Fresh => f * skill + spread * luck,
            Noise::Crash => skill * f64::from(u8::from(fresh.uniform() < f)),
        }
    }

    fn run(&self, search: Search, pool: usize) -> Calibration {
        let nominal = (0..pool).map(|i| self.score(i, search.neutral)).collect();
        let mut calibration = Calibration::new(search, nominal).unwrap();
        while let Some(request) = calibration.ask() {
            let scores: Vec<f64> = request.episodes.map(|i| self.score(i, request.magnitude)).collect();
            calibration.tell(&scores).unwrap();
        }
        calibration
    }
}

fn magnitudes(calibration: &Calibration) -> Vec<f64> {
    let magnitude = |v: &Verdict| v.magnitude().unwrap_or_else(|| panic!("{v:?}"));
    calibration.verdicts().iter().map(magnitude).collect()
}

/// f(m) = 1 / (1 + (m / m½)^k), which crosses τ at m½ (1/τ − 1)^(1/k).
fn logistic(m: f64, half: f64, k: f64) -> f64 {
    1.0 / (1.0 + (m / half).powf(k))
}

#[test]
fn finds_every_target_on_a_smooth_curve() {
    let calibration =
        Environment::new(1, |m| logistic(m, 2.0, 2.0)).run(search(Grid::Continuous, 0.0, 10.0), 400);
    for (verdict, target) in calibration.verdicts().iter().zip(TARGETS) {
        let Verdict::Found { magnitude, score } = verdict else { panic!("{verdict:?}") };
        let truth = 2.0 * (1.0 / target - 1.0).sqrt();
        assert!((magnitude.value / truth - 1.0).abs() < 0.3, "{target}: {magnitude} but {truth}");
        assert!((score.value - target).abs() < 0.3 * (1.0 - target), "{target}: {score}");
    }
    assert!(calibration.episodes_spent() < 8_000, "{}", calibration.episodes_spent());
}

#[test]
fn the_same_answers_give_the_same_questions() {
    let run = || Environment::new(2, |m| logistic(m, 1.0, 3.0)).run(search(Grid::Continuous, 0.0, 50.0), 200);
    assert_eq!(run().verdicts(), run().verdicts());
}

#[test]
fn the_ceiling_may_be_below_the_neutral_value() {
    let found =
        Environment::new(3, |m| logistic(1.0 - m, 0.6, 4.0)).run(search(Grid::Continuous, 1.0, 0.0), 200);
    let m = magnitudes(&found);
    assert!(m.windows(2).all(|w| w[0] > w[1]) && (m[3] - 0.4).abs() < 0.05, "{m:?}");
}

#[test]
fn an_effect_far_below_the_ceiling_is_found() {
    let m = magnitudes(
        &Environment::new(4, |m| (-m / 0.001).exp()).run(search(Grid::Continuous, 0.0, 10.0), 200),
    );
    assert!((m[3] / (0.001 * 2.0_f64.ln()) - 1.0).abs() < 0.3, "{m:?}");
}

#[test]
fn no_unit_of_the_magnitude_puts_a_level_out_of_reach() {
    // The scale of the effect, from far below the first look to near the ceiling.
    for scale in [2.0_f64.powi(-44), 1e-9, 1e-7, 1e-5, 1e-3, 1.0] {
        let found = Environment::new(4, |m| (-m / scale).exp()).run(search(Grid::Continuous, 0.0, 10.0), 200);
        let m = magnitudes(&found);
        assert!((m[3] / (scale * 2.0_f64.ln()) - 1.0).abs() < 0.3, "{scale}: {m:?}");
        assert!(found.episodes_spent() < 5_000, "{scale}: {}", found.episodes_spent());
    }
}

#[test]
fn what_any_disturbance_breaks_is_jumped_over_at_once() {
    let found = Environment::new(4, |m| f64::from(m == 0.0)).run(search(Grid::Continuous, 0.0, 10.0), 200);
    assert!(
        found
            .verdicts()
            .iter()
            .all(|v| matches!(v, Verdict::JumpsOver { above, .. } if above.magnitude == 0.0))
    );
    assert!(found.episodes_spent() < 2_500, "{}", found.episodes_spent());
}

#[test]
fn a_plateau_is_unattainable_below_and_found_above() {
    let found = Environment::new(5, |m| 0.8 + 0.2 * (-m).exp()).run(search(Grid::Continuous, 0.0, 20.0), 300);
    let verdicts = found.verdicts();
    assert!(matches!(&verdicts[1], Verdict::Found { magnitude, .. } if (magnitude.value - 0.69).abs() < 0.4));
    for verdict in &verdicts[2..] {
        assert!(matches!(verdict, Verdict::StaysAbove { score } if score.covers(0.8)), "{verdict:?}");
    }
}

#[test]
fn a_step_is_jumped_over() {
    let found = Environment::new(6, |m| if m < 3.0 { 0.95 } else { 0.6 })
        .run(search(Grid::Continuous, 0.0, 10.0), 300);
    for verdict in &found.verdicts()[1..3] {
        let Verdict::JumpsOver { above, below } = verdict else { panic!("{verdict:?}") };
        assert!(above.magnitude < 3.0 && below.magnitude >= 3.0 && below.magnitude - above.magnitude < 0.01);
    }
}

#[test]
fn a_no_op_is_said_to_be_one() {
    let found = Environment::new(7, |_| 1.0).run(search(Grid::Continuous, 0.0, 10.0), 300);
    assert!(found.verdicts().iter().all(|v| matches!(v, Verdict::NoOp { .. })), "{:?}", found.verdicts());
    assert!(found.episodes_spent() < 800, "{}", found.episodes_spent());
}

#[test]
fn a_small_bump_does_not_mislead() {
    let bumpy = |m: f64| logistic(m, 2.0, 2.0) + 0.04 * (-(m - 1.4_f64).powi(2) / 0.005).exp();
    let m = magnitudes(&Environment::new(8, bumpy).run(search(Grid::Continuous, 0.0, 10.0), 300));
    assert!((m[1] - 0.667).abs() < 0.15 && (m[3] - 2.0).abs() < 0.3, "{m:?}");
}

#[test]
fn whole_magnitudes_take_the_nearest_score() {
    let delay = |m: f64| [1.0, 0.97, 0.88, 0.7, 0.45, 0.2, 0.1, 0.05, 0.0][m as usize];
    let found = Environment::new(9, delay).run(search(Grid::Whole, 0.0, 8.0), 400);
    assert_eq!(magnitudes_of(&found.verdicts()[1..]), [2.0, 3.0, 4.0]);
    // 0.99 is nearer to the undisturbed 1 than to 0.97.
    assert!(matches!(&found.verdicts()[0], Verdict::JumpsOver { above, .. } if above.magnitude == 0.0));
}

fn magnitudes_of(verdicts: &[Verdict]) -> Vec<f64> {
    verdicts.iter().filter_map(Verdict::magnitude).collect()
}

#[test]
fn the_budget_is_kept_and_what_is_left_open_is_said() {
    for budget in [10, 100, 500] {
        let search = Search { budget, ..search(Grid::Continuous, 0.0, 10.0) };
        let found = Environment::new(10, |m| logistic(m, 2.0, 2.0)).run(search, 400);
        assert!(found.episodes_spent() <= budget);
        assert_eq!(found.verdicts().len(), 4);
        let open = |v: &Verdict| matches!(v, Verdict::OutOfBudget { between: (low, high) } if low < high);
        assert!(budget > 100 || found.verdicts().iter().any(open), "{:?}", found.verdicts());
    }
}

#[test]
fn bad_settings_and_answers_are_refused() {
    let fails = |search: Search| Calibration::new(search, vec![1.0; 50]).unwrap_err().to_string();
    let base = search(Grid::Continuous, 0.0, 10.0);
    assert!(fails(Search { ceiling: 0.0, ..base.clone() }).contains("other than the neutral"));
    assert!(fails(Search { targets: vec![1.5], ..base.clone() }).contains("found 1.5"));
    assert!(fails(Search { pilot: 64, ..base.clone() }).contains("at least 64 nominal episodes, found 50"));
    let mut calibration = Calibration::new(base, vec![1.0; 50]).unwrap();
    let asked = calibration.ask().unwrap();
    assert!(calibration.tell(&[1.0]).is_err() && calibration.tell(&[f64::NAN; 16]).is_err());
    assert_eq!(calibration.ask().unwrap(), asked);
}

/// What the intervals of so many environments are like, by target, and the mean number of episodes.
#[derive(Debug, Default)]
struct Quality {
    covered: [u64; 4],
    /// Intervals that end before the neutral value and before the ceiling.
    closed: [u64; 4],
    episodes: f64,
}

fn quality(
    environments: u64,
    noise: Noise,
    response: fn(f64, f64) -> f64,
    crossing: fn(f64) -> f64,
) -> Quality {
    let mut found = Quality::default();
    for seed in 0..environments {
        let environment = Environment { noise, ..Environment::new(seed, |m| response(m, 2.0)) };
        let calibration = environment.run(search(Grid::Continuous, 0.0, 10.0), 300);
        found.episodes += calibration.episodes_spent() as f64 / environments as f64;
        for (k, (verdict, target)) in calibration.verdicts().iter().zip(TARGETS).enumerate() {
            let Verdict::Found { magnitude, .. } = verdict else { continue };
            found.covered[k] += u64::from(magnitude.covers(2.0 * crossing(target)));
            found.closed[k] += u64::from(magnitude.low > 0.0 && magnitude.high < 10.0);
        }
    }
    found
}

#[test]
fn intervals_cover_the_true_crossing_and_are_closed() {
    let environments = if std::env::var_os("RUN_SLOW_TESTS").is_some() { 500 } else { 60 };
    for noise in [Noise::Shared, Noise::Fresh, Noise::Crash] {
        for (shape, response, crossing) in SHAPES {
            let found = quality(environments, noise, response, crossing);
            println!("{noise:?} {shape}: {found:?} of {environments}");
            let most = if noise == Noise::Crash { 8_000.0 } else { 4_000.0 };
            assert!(found.episodes < most, "{noise:?} {shape}: {found:?}");
            // The level is 95 %; the searching, and the reading between magnitudes, may cost a little of it.
            let least = 0.93 * environments as f64 - 3.0 * (0.93 * 0.07 * environments as f64).sqrt();
            assert!(found.covered.iter().all(|&c| c as f64 >= least), "{noise:?} {shape}: {found:?}");
            // So few episodes cannot tell a crash in a hundred from none, so there the tiniest target may stay open.
            let telling = &found.closed[usize::from(noise == Noise::Crash)..];
            assert!(telling.iter().all(|&c| c >= 9 * environments / 10), "{noise:?} {shape}: {found:?}");
        }
    }
}

type Shape = (&'static str, fn(f64, f64) -> f64, fn(f64) -> f64);

/// A curve that is flat at first, a straight one, and a sudden one, each with its inverse.
const SHAPES: [Shape; 3] = [
    ("logistic", |m, half| logistic(m, half, 2.0), |target| (1.0 / target - 1.0).sqrt()),
    ("exponential", |m, scale| (-m / scale).exp(), |target| -target.ln()),
    ("sudden", |m, half| logistic(m, half, 12.0), |target| (1.0 / target - 1.0).powf(1.0 / 12.0)),
];
