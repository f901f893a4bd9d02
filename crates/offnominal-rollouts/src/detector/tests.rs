//! What every detector obeys, on rollouts that were drawn.

use super::*;
use crate::rollout::Rollout;
use crate::split::Split;
use offnominal_core::Rng;

/// Rollouts of four tasks; failures have larger errors from step 5 on, and run longer.
fn drawn(n: usize) -> Rollouts {
    let mut rng = Rng::new(11);
    let mut one = |i: usize| {
        let fails = i.is_multiple_of(3);
        let steps = if fails { 30 } else { 12 + rng.below(18) };
        let mut signal = |shift: f64| -> Vec<f64> {
            let of = |t: usize| rng.uniform() + if fails && t >= 5 { shift } else { 0.0 };
            (0..steps).map(of).collect()
        };
        let signals = vec![signal(-0.2), signal(0.5)];
        Rollout { name: i.to_string(), task: i / 3 % 4, fails, signals, ..Rollout::default() }
    };
    let tasks = ["cup", "door", "lift", "push"].map(String::from).into();
    let rollouts = (0..n).map(&mut one).collect();
    Rollouts { signals: vec!["acm".into(), "tce".into()], tasks, rollouts, ..Rollouts::default() }
}

const ALL: [&str; 13] = [
    "clock",
    "random",
    "task-prior",
    "tce",
    "max(tce)",
    "mean(tce)",
    "sum(tce)",
    "reversals(tce)",
    "-ewma(acm)",
    "actprobe",
    "hazard",
    "hazard(tce,acm)",
    "odds(hazard,task-prior,hazard(acm))",
];

fn fitted(detector: &str, data: &Rollouts, part: &Part) -> Box<dyn Fitted> {
    let context = Context::silent(1, 1);
    let instructions = BTreeMap::new();
    let lesson = Lesson { data, part, instructions: &instructions, seed: Seed(1), context: &context };
    detector.parse::<Detector>().unwrap().fit(&lesson).unwrap()
}

#[test]
fn turns_are_counted_and_rests_are_none() {
    let turns = Accumulator::Reversals.of(&[1.0, 2.0, 2.0, 3.0, 1.0, 1.0, 0.0, 4.0]);
    assert_eq!(turns, [0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 2.0]);
}

#[test]
fn names_are_read_back() {
    for text in ALL {
        assert_eq!(text.parse::<Detector>().unwrap().to_string(), text);
    }
    let several = "odds( actprobe , odds(hazard, task-prior) )".parse::<Detector>().unwrap();
    assert_eq!(several.to_string(), "odds(actprobe,odds(hazard,task-prior))");
    for bad in ["", "mean(tce", "mean(max(tce))", "or(a,b)", "odds(hazard)", "odds(hazard,tce)", "----x"] {
        assert!(bad.parse::<Detector>().is_err(), "{bad}");
    }
}

#[test]
fn scores_are_finite_repeatable_and_know_no_later_step() {
    let data = drawn(120);
    let part = &Split::Folds(4).parts(&data, 1).unwrap()[0];
    let mut cut = data.clone();
    for r in &mut cut.rollouts {
        r.signals.iter_mut().for_each(|signal| signal.truncate(9));
    }
    for detector in ALL {
        let fitted = fitted(detector, &data, part);
        for &i in &part.test {
            let scores = fitted.scores(&data, i);
            assert_eq!(scores.len(), data.rollouts[i].steps(), "{detector}");
            assert!(scores.iter().all(|s| s.is_finite()), "{detector}: {scores:?}");
            assert_eq!(scores, fitted.scores(&data, i), "{detector}");
            assert_eq!(scores[..9], fitted.scores(&cut, i), "{detector} knows the future");
        }
    }
}

#[test]
fn a_score_does_not_depend_on_the_outcomes_of_judged_rollouts() {
    let data = drawn(120);
    let part = &Split::Folds(4).parts(&data, 1).unwrap()[0];
    let mut turned = data.clone();
    part.test.iter().for_each(|&i| turned.rollouts[i].fails = !turned.rollouts[i].fails);
    for detector in ALL {
        let of = |data: &Rollouts| fitted(detector, data, part).scores(data, part.test[0]);
        assert_eq!(of(&data), of(&turned), "{detector}");
    }
}

#[test]
fn probes_find_what_there_is_to_find() {
    let data = drawn(240);
    let part = &Split::Folds(4).parts(&data, 1).unwrap()[0];
    for detector in ["hazard", "actprobe", "mean(tce)"] {
        let fitted = fitted(detector, &data, part);
        // At step 11 all rollouts run.
        let at = |fails: bool| -> Vec<f64> {
            let of = part.test.iter().filter(|&&i| data.rollouts[i].fails == fails);
            of.map(|&i| fitted.scores(&data, i)[11]).collect()
        };
        let (cases, controls) = (at(true), at(false));
        let above = cases.iter().flat_map(|a| controls.iter().map(move |b| f64::from(u8::from(a > b))));
        let area = above.sum::<f64>() / (cases.len() * controls.len()) as f64;
        assert!(area > 0.75, "{detector}: {area}");
    }
}

#[test]
fn what_is_missing_is_named() {
    let data = drawn(40);
    let context = Context::silent(1, 1);
    let instructions = BTreeMap::from([("cup".to_string(), vec![1.0])]);
    let nothing = Part::default();
    let error = |detector: &str, part: &Part| {
        let lesson =
            Lesson { data: &data, part, instructions: &instructions, seed: Seed(1), context: &context };
        format!("{:#}", detector.parse::<Detector>().unwrap().fit(&lesson).err().unwrap())
    };
    assert!(error("hazard", &nothing).contains("expected rollouts to learn from"));
    assert!(error("tcx", &nothing).contains("expected a signal of the rollouts (acm, tce), found \"tcx\""));
    let part = &Split::Folds(4).parts(&data, 1).unwrap()[0];
    assert!(error("actprobe", part).contains("expected an embedding of the task \"door\""));
}
