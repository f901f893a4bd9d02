//! Ages, missing values and ends of episodes.

use super::*;
use crate::gather::Table;

/// Two topics: `a:x` every 10 ms with one value missing, and `b:y` at three times.
fn gathered() -> Gathered {
    let rows = |topic: usize, times: &[i64], numbers: &[f64]| Table {
        topic,
        times: times.iter().map(|ms| ms * 1_000_000).collect(),
        columns: vec![numbers.to_vec()],
    };
    Gathered {
        topics: vec![
            rows(0, &[0, 10, 20, 30, 40], &[0.0, 1.0, f64::NAN, 3.0, 4.0]),
            rows(1, &[5, 31, 20], &[50.0, 310.0, 200.0]),
        ],
        places: vec![Some((0, 0)), Some((1, 0))],
        is_text: vec![false; 2],
        ..Gathered::default()
    }
}

fn mapping(clock: &str, episodes: &str) -> Mapping {
    Mapping::parse(&format!(
        "version = 1\nobservation = [{{ column = \"a:x\" }}, {{ column = \"b:y\" }}]\n[clock]\n{clock}\n[episodes]\n{episodes}"
    ))
    .unwrap()
}

fn episodes(mapping: &Mapping) -> Vec<Recorded> {
    let (gathered, path) = (gathered(), Path::new("log"));
    let log = Log::new(&gathered, mapping, None).unwrap();
    let made = |window| log.episode(path, 0, window, &mut LeftOut::default()).unwrap();
    log.windows().unwrap().into_iter().filter_map(made).collect()
}

#[test]
fn a_channel_has_the_last_value_seen_and_its_age_and_never_a_later_one() {
    let found = &episodes(&mapping("rate_hz = 100.0", "by = \"file\""))[0];
    // At 0 ms nothing of `b` has been seen. The message of 31 ms is not in the order of time.
    assert_eq!(found.observations, [1.0, 50.0, 1.0, 200.0, 3.0, 200.0, 4.0, 310.0]);
    let ages: Vec<f32> = found.ages_secs.iter().map(|age| (age * 1e3).round()).collect();
    assert_eq!(ages, [0.0, 5.0, 10.0, 0.0, 0.0, 10.0, 0.0, 9.0]);
    assert_eq!((found.start_nanos, found.commands.len()), (10_000_000, 0));
    assert_eq!(found.secs, [0.0, 0.01, 0.02, 0.03]);
}

#[test]
fn a_value_that_is_too_old_is_missing() {
    let found = &episodes(&mapping("rate_hz = 100.0\nmax_age_secs = 0.008", "by = \"file\""))[0];
    let missing: Vec<bool> = found.observations.iter().map(|x| x.is_nan()).collect();
    assert_eq!(missing, [false, false, true, false, false, true, false, true]);
    assert_eq!(found.share_missing(), 3.0 / 8.0);
}

#[test]
fn episodes_end_at_gaps_windows_and_events() {
    let lengths = |episodes_: &str| -> Vec<usize> {
        let mapping = mapping("rate_hz = 1000.0", episodes_);
        episodes(&mapping).iter().map(|found| found.len(2)).collect()
    };
    assert_eq!(lengths("by = \"window\"\nsecs = 0.02"), [15, 20]);
    let parts = |secs: &str| -> Vec<bool> {
        let mapping = mapping("rate_hz = 1000.0", &format!("by = \"window\"\nsecs = {secs}"));
        episodes(&mapping).iter().map(|found| found.is_part).collect()
    };
    assert_eq!((parts("0.02"), parts("0.03")), (vec![false, false], vec![false, true]), "the log has 40 ms");
    assert_eq!(
        lengths("by = \"gap\"\nsecs = 0.009"),
        [5, 10],
        "nothing was recorded from 10 to 20 ms, nor from there to 30 ms"
    );
    assert_eq!(
        lengths("by = \"event\"\ncolumn = \"a:x\""),
        [4, 30],
        "x is above zero from 10 ms on, which is in one of them"
    );
}

#[test]
fn channels_of_several_topics_need_a_rate() {
    let (gathered, mapping) = (gathered(), mapping("", "by = \"file\""));
    let log = Log::new(&gathered, &mapping, None).unwrap();
    let error = log
        .episode(Path::new("log"), 0, (0, 40_000_000, i64::MAX), &mut LeftOut::default())
        .unwrap_err()
        .to_string();
    assert!(error.contains("clock.rate_hz: expected a rate") && error.contains("2 topics"), "{error}");
}

#[test]
fn a_clock_that_was_set_does_not_make_windows_for_ever() {
    let mapping = mapping("rate_hz = 100.0", "by = \"window\"\nsecs = 0.1");
    let mut gathered = gathered();
    gathered.topics[0].times[4] = 1_760_000_000_000_000_000;
    let log = Log::new(&gathered, &mapping, None).unwrap();
    let why = log.windows().unwrap_err().to_string();
    assert!(why.contains("the clock jumps, at most by 1760000000 s"), "{why}");
}
