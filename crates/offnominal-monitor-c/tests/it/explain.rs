//! The parts of a score and the named faults are those of the Rust monitor.

use crate::border::faulty_by;
use crate::calls::{Opened, last_error, text};
use crate::support::{FILE, NAMING, OBS, opened};
use offnominal_monitor_c as c;
use offnominal_monitor_c::{Candidate, Deviation, Direction, Status};
use std::mem::MaybeUninit;

/// An offset of the size of those that were taught.
const TAUGHT: f64 = 1.5;

/// A monitor that tells parts and names, after the steps of a fault.
fn watched() -> Opened {
    let mut border = Opened::from_bytes(&NAMING).unwrap();
    assert_eq!(border.shares(&mut [0.0; OBS]), Status::NoShares);
    assert_eq!(border.candidates(&mut []), Err(Status::NoDiagnosis));
    for (obs, action) in faulty_by(TAUGHT) {
        let _ = border.step(&obs, &action);
    }
    border
}

#[test]
fn shares_sum_to_the_score_and_are_those_of_the_rust_monitor() {
    let (mut border, mut rust) = (Opened::from_bytes(&NAMING).unwrap(), opened(&NAMING));
    let (mut found, mut want, mut n) = ([0.0; OBS], [0.0; OBS], 0);
    for (obs, action) in faulty_by(TAUGHT) {
        let verdict = border.step(&obs, &action);
        rust.step(&obs, &action).unwrap();
        let Ok(verdict) = verdict else { continue };
        assert_eq!(border.shares(&mut found), Status::Ok);
        assert!(rust.write_shares(&mut want));
        assert_eq!(found, want);
        let sum: f64 = found.iter().sum();
        assert!(
            (sum - verdict.score).abs() <= 1e-9 * verdict.score.abs().max(1.0),
            "{sum} {}",
            verdict.score
        );
        n += 1;
    }
    assert_eq!(n, 29);
    assert_eq!(border.shares(&mut [0.0; OBS + 1]), Status::Width);
    assert_eq!(last_error(), "shares: expected 3 numbers, found 4");
}

#[test]
fn candidates_are_those_of_the_rust_monitor() {
    let (mut border, mut rust) = (Opened::from_bytes(&NAMING).unwrap(), opened(&NAMING));
    let mut dues = Vec::new();
    for (t, (obs, action)) in faulty_by(TAUGHT).into_iter().enumerate() {
        let _ = border.step(&obs, &action);
        rust.step(&obs, &action).unwrap();
        assert_eq!(border.is_diagnosis_due(), rust.is_diagnosis_due());
        if border.is_diagnosis_due() {
            dues.push(t);
        }
    }
    assert!(dues.len() == 2 && dues[1] == dues[0] + 5, "{dues:?}");
    let want: Vec<_> = rust.diagnose().unwrap().candidates().collect();
    assert!(!want.is_empty());
    let mut places = [const { MaybeUninit::uninit() }; 3];
    assert_eq!(border.candidates(&mut places), Ok(want.len()));
    for (place, want) in places.iter().zip(want) {
        // SAFETY: as many were written as there are.
        let Candidate { anomaly, direction, neutral, magnitude, probability } =
            unsafe { place.assume_init() };
        assert_eq!((text(anomaly), direction), (want.anomaly.into(), Direction::from(want.direction)));
        assert_eq!([neutral, magnitude, probability], [want.neutral, want.magnitude, want.probability]);
    }
    // SAFETY: the monitor is open.
    assert_eq!(unsafe { c::offnominal_n_hypotheses(border.0) }, 3);
}

#[test]
fn candidates_are_written_as_far_as_there_is_room() {
    let mut border = watched();
    let n = border.candidates(&mut []).unwrap();
    let mut places = [const { MaybeUninit::uninit() }; 3];
    assert_eq!((border.candidates(&mut places[..1]), n > 0), (Ok(n), true));
    // SAFETY: the first was written.
    assert!(unsafe { places[0].assume_init() }.probability > 0.0);
}

#[test]
fn a_monitor_that_knows_neither_says_so() {
    let mut border = Opened::from_bytes(&FILE).unwrap();
    for (obs, action) in faulty_by(TAUGHT) {
        let _ = border.step(&obs, &action);
    }
    assert_eq!(border.shares(&mut [0.0; OBS]), Status::NoShares);
    assert_eq!(border.candidates(&mut []), Err(Status::NoDiagnosis));
    // SAFETY: the monitor is open, or null, which the library looks at.
    unsafe {
        assert_eq!(c::offnominal_n_hypotheses(border.0), 0);
        assert_eq!(c::offnominal_is_diagnosis_due(std::ptr::null()), 0);
    }
}

#[test]
fn asking_why_does_not_allocate() {
    let mut border = watched();
    let mut ask = || {
        let mut channels = [Deviation { channel: 0, size: 0.0, bias: 0.0 }; OBS];
        let mut places = [const { MaybeUninit::uninit() }; 3];
        assert_eq!(border.shares(&mut [0.0; OBS]), Status::Ok);
        border.diagnose(&mut channels).unwrap();
        border.candidates(&mut places).unwrap();
    };
    ask();
    assert_eq!(allocation_counter::measure(ask).count_total, 0);
}
