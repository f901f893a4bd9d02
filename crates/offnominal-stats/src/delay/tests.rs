//! Alarms drawn as text: `.` quiet, `!` alarm, `|` stands before the onset.

use super::*;
use offnominal_core::Seed;

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

fn outcome(rows: &[(&'static str, Outcome)], name: &str) -> Outcome {
    rows.iter().find(|(id, _)| *id == name).unwrap().1.clone()
}

fn value(rows: &[(&'static str, Outcome)], name: &str) -> f64 {
    outcome(rows, name).unwrap().value
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
        ("delay_median", 4.5),
        ("delay_restricted", (0.0 + 7.0 + 2.0 + 50.0) / 4.0),
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
fn equal_delays_have_the_exact_bounds_of_a_mean_within_0_and_50() {
    let seen = 0.025_f64.powf(1.0 / 12.0);
    for (drawn, delay) in [("..|....", 50.0), ("..|!...", 0.0), ("..|..!.", 2.0)] {
        let found = outcome(&judged(&[drawn; 12]).rows(), "delay_restricted").unwrap();
        let want = (seen * delay, 50.0 - seen * (50.0 - delay));
        assert!((found.low - want.0).abs() + (found.high - want.1).abs() < 1e-9, "{drawn}: {found}");
    }
}

#[test]
fn an_early_alarm_alone_is_a_miss_for_us_and_not_for_the_paper() {
    let found = judged(&[".!.|....", ".!.|...."]);
    assert_eq!(value(&found.rows(), "missing_rate"), 1.0);
    assert_eq!(value(&found.published(), "missing_rate"), 0.0);
}

#[test]
fn an_alarm_is_above_the_threshold_and_not_at_it() {
    let at = ScoredEpisode::persistent(vec![0.0, 0.5], 1, None);
    assert_eq!(value(&delays(&[at], 0.5, &plan()).unwrap().rows(), "detection_rate"), 0.0);
}

#[test]
fn episodes_that_end_before_their_onset_do_not_count() {
    let unreached = ScoredEpisode::persistent(vec![0.0; 4], 4, None);
    let found = delays(&[unreached, episode("..|!")], 0.5, &plan()).unwrap();
    assert_eq!(outcome(&found.rows(), "detection_rate").unwrap().n, 1);
}

#[test]
fn an_unreached_median_and_missing_data_are_said() {
    let found = judged(&["..|..", "..|...", "..|!"]);
    let median = found.median().unwrap_err();
    assert_eq!(median, StatsError::MedianNotReached { detected: 1, n: 3, low: 0.0 });
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
    assert_eq!(curve[20], outcome(&found.rows(), "detection_rate").unwrap());
    assert_eq!(curve[5], found.within(5).unwrap());
}

/// One episode in eight is found, and the others end at once: censoring them would leave a median of 1.
#[test]
fn anomalies_that_end_their_episode_are_not_found() {
    let mut drawn = vec!["..|."; 21];
    drawn.extend(["..|.!"; 3]);
    let never = judged(&drawn).median().unwrap_err();
    assert_eq!(never, StatsError::MedianNotReached { detected: 3, n: 24, low: f64::INFINITY });
}

#[test]
fn the_median_needs_more_than_half_of_the_anomalies() {
    let half = judged(&["..|.!", "..|.!", "..|..", "..|.."]).median();
    assert_eq!(half, Err(StatsError::MedianNotReached { detected: 2, n: 4, low: 0.0 }));
    assert_eq!(judged(&["..|.!", "..|.!", "..|.."]).median().unwrap().value, 1.0);
}

#[test]
fn the_interval_of_the_median_is_the_second_and_the_ninth_of_ten() {
    let drawn: Vec<String> = (0..10).map(|delay| format!("|{}!", ".".repeat(delay))).collect();
    let found = judged(&drawn.iter().map(String::as_str).collect::<Vec<_>>()).median().unwrap();
    assert_eq!((found.low, found.value, found.high), (1.0, 4.5, 8.0)); // P(Bin(10, ½) ≤ 1) = 1.07 %
}

#[test]
fn without_a_step_before_the_onset_no_alarm_can_be_early() {
    let found = outcome(&judged(&["|....", ".!|..", "..|!."]).rows(), "early_rate").unwrap();
    assert_eq!((found.value, found.n), (0.5, 2));
    let never = outcome(&judged(&["|.!", "|.."]).rows(), "early_rate");
    assert!(matches!(never, Err(StatsError::TooFew { found: 0, .. })));
}

#[test]
fn an_alarm_in_the_step_that_fails_is_too_late() {
    let failing = |drawn: &str| ScoredEpisode { fails: true, ..episode(drawn) };
    let episodes = [failing("..|..!.."), failing("..|....!"), failing("!.|....."), episode("..|!....")];
    let found = delays(&episodes, 0.5, &plan()).unwrap();
    assert!((value(&found.rows(), "before_failure_rate") - 1.0 / 3.0).abs() < 1e-12);
    assert_eq!(
        outcome(&judged(&["..|!"]).rows(), "before_failure_rate").unwrap_err().to_string(),
        "share of alarms: expected at least 1 anomalous episodes that end in failure, found 0"
    );
}
