//! Closed forms, and a comparison with every pair counted one by one.

use super::*;
use crate::Level;
use offnominal_core::{Rng, Seed};

/// Rollouts of several tasks as owned numbers: task, outcome and scores.
type Owned = (usize, bool, Vec<f64>);

fn courses(rollouts: &[Owned]) -> Vec<Course<'_>> {
    rollouts
        .iter()
        .enumerate()
        .map(|(rollout, (task, fails, scores))| Course { rollout, task: *task, fails: *fails, scores })
        .collect()
}

/// Rollouts whose scores are a few whole numbers, so that ties are frequent.
fn drawn(seed: u64, n: usize, shift: f64) -> Vec<Owned> {
    let mut rng = Rng::new(seed);
    let mut one = |i: usize| {
        let fails = rng.below(3) == 0;
        let length = if fails { 12 } else { 1 + rng.below(12) };
        let scores = (0..length).map(|_| (2.0 * rng.normal() + f64::from(u8::from(fails)) * shift).round());
        (i % 4, fails, scores.collect())
    };
    (0..n).map(&mut one).collect()
}

/// The three means by all pairs, one by one; a rollout counts as often as it is there.
fn brute_force(rollouts: &[Owned]) -> [f64; 3] {
    let (mut pairs, mut areas, mut by_task) = ((0.0, 0.0), Vec::new(), Vec::new());
    for task in 0..4 {
        let mut of_task = (0.0, 0.0);
        for step in 0..12 {
            let mut cell = (0.0, 0.0);
            for (_, _, case) in rollouts.iter().filter(|r| r.0 == task && r.1 && r.2.len() > step) {
                for (_, _, control) in rollouts.iter().filter(|r| r.0 == task && !r.1 && r.2.len() > step) {
                    let (a, b) = (case[step], control[step]);
                    cell.0 += f64::from(u8::from(a > b)) + 0.5 * f64::from(u8::from(a == b));
                    cell.1 += 1.0;
                }
            }
            if cell.1 > 0.0 {
                areas.push(cell.0 / cell.1);
                of_task = (of_task.0 + cell.0, of_task.1 + cell.1);
            }
        }
        if of_task.1 > 0.0 {
            by_task.push(of_task.0 / of_task.1);
            pairs = (pairs.0 + of_task.0, pairs.1 + of_task.1);
        }
    }
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    [pairs.0 / pairs.1, mean(&areas), mean(&by_task)]
}

#[track_caller]
fn assert_close(found: [f64; 3], want: [f64; 3]) {
    let is_close = found.iter().zip(want).all(|(f, w)| (f - w).abs() < 1e-12);
    assert!(is_close, "expected {want:?}, found {found:?}");
}

#[test]
fn the_means_are_those_of_all_pairs_and_weights_count_like_copies() {
    for seed in 0..20 {
        let rollouts = drawn(seed, 40, 1.0);
        let landmark = Landmark::new(&courses(&rollouts), 0).unwrap();
        assert_close(landmark.areas(&[1; 40]).unwrap(), brute_force(&rollouts));
        let mut rng = Rng::new(seed);
        let weights: Vec<u32> = (0..40).map(|_| rng.below(3) as u32).collect();
        let copies = rollouts.iter().zip(&weights);
        let copies: Vec<Owned> =
            copies.flat_map(|(r, &w)| std::iter::repeat_n(r.clone(), w as usize)).collect();
        assert_close(landmark.areas(&weights).unwrap(), brute_force(&copies));
    }
}

#[test]
fn a_clock_and_a_task_prior_are_one_half_with_the_interval_of_equal_values() {
    let mut rollouts = drawn(3, 60, 0.0);
    let strata: Vec<usize> = rollouts.iter().map(|r| 2 * r.0 + usize::from(r.1)).collect();
    let plan = Bootstrap::new(200, Level::P95, Seed(1));
    let scores: [fn(usize, usize) -> f64; 2] = [|_, step| step as f64, |task, _| task as f64];
    for score in scores {
        for (task, _, values) in &mut rollouts {
            values.iter_mut().enumerate().for_each(|(step, value)| *value = score(*task, step));
        }
        let parts = [Landmark::new(&courses(&rollouts), 0).unwrap()];
        for found in Landmark::estimates(&parts, &strata, &plan).unwrap() {
            let is_of_equals = found.method == "equal-values" && (found.low + found.high - 1.0).abs() < 1e-12;
            assert!(found.value == 0.5 && is_of_equals, "{found}");
        }
    }
}

#[test]
fn a_shift_has_the_area_that_theory_gives() {
    let mut rng = Rng::new(8);
    let mut one = |i: usize| {
        let fails = i.is_multiple_of(2);
        (0, fails, (0..10).map(|_| rng.normal() + f64::from(u8::from(fails))).collect())
    };
    let rollouts: Vec<Owned> = (0..400).map(&mut one).collect();
    let parts = [Landmark::new(&courses(&rollouts), 0).unwrap()];
    let plan = Bootstrap::new(400, Level::P95, Seed(2));
    let strata: Vec<usize> = (0..400).map(|i| i % 2).collect();
    let [pairs, ..] = Landmark::estimates(&parts, &strata, &plan).unwrap();
    // Φ(1/√2) = 0.7602.
    assert!((pairs.value - 0.7602).abs() < 0.02 && pairs.covers(0.7602), "{pairs}");
}

#[test]
fn a_success_leaves_the_cells_after_its_end() {
    let early = (0, false, vec![5.0]);
    let late = (0, false, vec![0.0, 0.0]);
    let rollouts = [(0, true, vec![1.0, 1.0]), early, late];
    let landmark = Landmark::new(&courses(&rollouts), 0).unwrap();
    let steps: Vec<_> = landmark.by_step(3).iter().map(|s| (s.step, s.auroc, s.pairs)).collect();
    assert_eq!(steps, [(0, 0.5, 2.0), (1, 1.0, 1.0)]);
    assert_eq!(Landmark::new(&courses(&rollouts), 1).unwrap().n_cells(), 1);
}

#[test]
fn a_detector_compared_with_itself_does_not_differ() {
    let rollouts = drawn(5, 60, 1.0);
    let strata: Vec<usize> = rollouts.iter().map(|r| 2 * r.0 + usize::from(r.1)).collect();
    let parts = [Landmark::new(&courses(&rollouts), 0).unwrap()];
    let plan = Bootstrap::new(100, Level::P95, Seed(1));
    let found = Landmark::differences([&parts, &parts], &strata, &plan).unwrap();
    assert!(found.iter().all(|d| (d.value, d.low, d.high) == (0.0, 0.0, 0.0)), "{found:?}");
}

#[test]
fn tasks_are_drawn_whole_and_one_task_is_too_few() {
    let task = |task: usize, case: f64| [(task, true, vec![case]), (task, false, vec![1.0])];
    let rollouts = [task(0, 2.0), task(1, 0.0)].concat();
    let parts = [Landmark::new(&courses(&rollouts), 0).unwrap()];
    let plan = Bootstrap::new(200, Level::P95, Seed(1));
    let [pairs, ..] = Landmark::over_tasks(&parts, 4, &plan).unwrap();
    assert!((pairs.value, pairs.low, pairs.high) == (0.5, 0.0, 1.0), "{pairs}");
    let [none, ..] = Landmark::differences_over_tasks([&parts, &parts], 4, &plan).unwrap();
    assert!((none.value, none.low, none.high) == (0.0, 0.0, 0.0), "{none}");
    // Of two parts with a task each, a draw that has one task only is the mean of the part that has it.
    let apart = [&rollouts[..2], &rollouts[2..]].map(|part| Landmark::new(&courses(part), 0).unwrap());
    assert_eq!(Landmark::over_tasks(&apart, 4, &plan).unwrap()[0].low, 0.0);
    let error = Landmark::over_tasks(&apart[..1], 4, &plan).unwrap_err().to_string();
    assert!(error.contains("expected at least 2 tasks"), "{error}");
}

#[test]
fn one_outcome_and_scores_that_are_no_numbers_are_refused() {
    let error = |rollouts: &[Owned]| Landmark::new(&courses(rollouts), 0).unwrap_err().to_string();
    let alone = error(&[(0, true, vec![1.0]), (1, false, vec![1.0])]);
    assert!(alone.contains("steps of a task with a failure and a success, found 0"), "{alone}");
    assert!(error(&[(0, true, vec![f64::NAN])]).contains("step 0: expected a finite score"));
}
