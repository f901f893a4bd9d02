//! Alarms drawn as text: `.` quiet, `!` alarm, `|` stands before the onset.

use super::*;
use offnominal_core::{Rng, Seed};

fn plan() -> Bootstrap {
    Bootstrap::new(500, Level::P95, Seed(0))
}

fn scores(drawn: &str) -> Vec<f64> {
    drawn.chars().filter(|&c| c != '|').map(|c| if c == '!' { 1.0 } else { 0.0 }).collect()
}

fn episode(drawn: &str) -> ScoredEpisode {
    match drawn.find('|') {
        Some(onset) => ScoredEpisode::persistent(scores(drawn), onset as u32, Some(scores(&drawn[..onset]))),
        None => ScoredEpisode::nominal(scores(drawn)),
    }
}

fn judged(drawn: &[&str]) -> Delays {
    let episodes: Vec<ScoredEpisode> = drawn.iter().map(|d| episode(d)).collect();
    delays(&episodes, 0.5, &plan()).unwrap()
}

fn value(rows: &[(&'static str, Outcome)], name: &str) -> f64 {
    let (_, outcome) = rows.iter().find(|(id, _)| *id == name).unwrap();
    outcome.as_ref().unwrap().value
}

#[test]
fn each_metric_in_a_drawn_example() {
    let found = judged(&["...|!....", "...|.......!", ".!.|..!", "..|.......", "....", ".!.."]);
    let rows = found.rows();
    for (name, want) in [
        ("d5", 0.5),
        ("d10", 0.75),
        ("detection_rate", 0.75),
        ("missing_rate", 0.25),
        ("early_rate", 0.25),
        ("delay_median", 2.0),
        ("false_alarm_rate", 2.0 / 6.0),
    ] {
        assert!((value(&rows, name) - want).abs() < 1e-12, "{name}");
    }
}

#[test]
fn the_published_readings_differ_where_alarms_are_early_or_missing() {
    let found = judged(&["...|!....", "...|.......!", ".!.|..!", "..|......."]);
    let rows = found.published();
    // Delays 0, 7, −2 and (missed) the length 9.
    for (name, want) in
        [("delay_median", 3.5), ("d5", 0.25), ("d10", 0.5), ("missing_rate", 0.25), ("early_rate", 1.0 / 3.0)]
    {
        assert!((value(&rows, name) - want).abs() < 1e-12, "{name}: {}", value(&rows, name));
    }
}

#[test]
fn an_early_alarm_alone_is_a_miss_for_us_and_not_for_the_paper() {
    let found = judged(&[".!.|....", ".!.|...."]);
    assert_eq!(found.missing_rate().unwrap().value, 1.0);
    assert_eq!(value(&found.published(), "missing_rate"), 0.0);
}

#[test]
fn an_alarm_is_above_the_threshold_and_not_at_it() {
    let at = ScoredEpisode::persistent(vec![0.0, 0.5], 1, None);
    assert_eq!(delays(&[at], 0.5, &plan()).unwrap().detection_rate().unwrap().value, 0.0);
}

#[test]
fn episodes_that_end_before_their_onset_do_not_count() {
    let unreached = ScoredEpisode::persistent(vec![0.0; 4], 4, None);
    let found = delays(&[unreached, episode("..|!")], 0.5, &plan()).unwrap();
    assert_eq!(found.detection_rate().unwrap().n, 1);
}

#[test]
fn an_unreached_median_and_missing_data_are_said() {
    let found = judged(&["..|..", "..|...", "..|!"]);
    let median = found.median().unwrap_err();
    assert_eq!(median, StatsError::MedianNotReached { detected: 1, n: 3 });
    assert_eq!(median.to_string(), "the median is not reached: 1 of 3 anomalies were detected");
    let nothing = delays(&[], 0.5, &plan()).unwrap();
    assert!(nothing.rows().iter().all(|(_, outcome)| outcome.is_err()));
}

#[test]
fn a_median_that_may_not_be_reached_has_no_upper_end() {
    let found = judged(&["..|!...", "..|.!..", "..|....", "..|....", "..|...!"]).median().unwrap();
    assert!(found.value == 3.0 && found.high == f64::INFINITY, "{found}");
}

#[test]
fn the_curve_rises_to_the_detection_rate() {
    let found = judged(&["...|!....", "...|.......!", ".!.|..!", "..|......."]);
    let curve = found.curve(20).unwrap();
    assert!(curve.windows(2).all(|w| w[0].value <= w[1].value));
    assert_eq!(curve[20], found.detection_rate().unwrap());
    assert_eq!(curve[5], found.within(5).unwrap());
}

/// Geometric delays with p = 0.1 have the median 6; episodes end at random, so the plain median is off.
#[test]
fn the_median_survives_censoring() {
    let mut rng = Rng::new(7);
    let mut one = || {
        let (delay, rest) = ((rng.uniform().ln() / 0.9_f64.ln()) as usize, 1 + rng.below(12));
        let scores = (0..rest).map(|t| if t == delay { 1.0 } else { 0.0 }).collect();
        ScoredEpisode::persistent(scores, 0, None)
    };
    let episodes: Vec<ScoredEpisode> = (0..600).map(|_| one()).collect();
    let found = delays(&episodes, 0.5, &plan()).unwrap();
    assert!(found.median().unwrap().covers(6.0), "{}", found.median().unwrap());
    assert!(found.detection_rate().unwrap().value < 0.55);
}
