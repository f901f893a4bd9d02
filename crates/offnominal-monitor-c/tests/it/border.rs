//! Each function, called as C calls it.

use crate::calls::{Opened, last_error, step_many, text};
use crate::support::{FILE, OBS, opened};
use offnominal_core::Seed;
use offnominal_core::transition::Transition;
use offnominal_laws::nominal_episodes;
use offnominal_monitor_c as c;
use offnominal_monitor_c::{ABI, Deviation, Event, SensorEvent, Status, Verdict};
use std::mem::MaybeUninit;
use std::ptr::{null, null_mut};

fn monitor() -> Opened {
    Opened::from_bytes(&FILE).unwrap()
}

/// Observations and actions of an episode, in which y jumps after step 20.
pub fn faulty() -> Vec<([f64; OBS], [f64; 1])> {
    faulty_by(9.0)
}

/// The same, with a sensor that is off by so much.
pub fn faulty_by(offset: f64) -> Vec<([f64; OBS], [f64; 1])> {
    let episode = nominal_episodes(Seed(5), 1, 30).remove(0);
    let off = |t| if t > 20 { offset } else { 0.0 };
    let ticks = episode
        .signals()
        .transitions()
        .enumerate()
        .map(|(t, seen)| (seen.obs.iter().map(|&x| f64::from(x)).collect::<Vec<_>>(), t, seen.action[0]))
        .map(|(obs, t, action)| ([obs[0], obs[1] + off(t), obs[2]], [action.into()]));
    ticks.collect()
}

/// Nothing is a channel that was never written.
const BLANK: Deviation = Deviation { channel: usize::MAX, size: -1.0, bias: -1.0 };

#[test]
fn verdicts_and_diagnoses_are_those_of_the_rust_monitor() {
    let (mut border, mut rust) = (monitor(), opened(&FILE));
    for (obs, action) in faulty() {
        let want = rust.step(&obs, &action).unwrap().map(Verdict::from);
        assert_eq!(border.step(&obs, &action), want.ok_or(Status::NoVerdict));
    }
    let want = rust.diagnose().unwrap();
    let mut channels = [BLANK; OBS];
    let found = border.diagnose(&mut channels).unwrap();
    assert_eq!(found.onset, want.onset());
    assert_eq!(found.probabilities, want.probabilities().map(|(_, p)| p));
    let offs: Vec<Deviation> = want.channels().map(|(_, off)| off.into()).collect();
    assert_eq!(channels[..found.n_channels], offs);
    assert_eq!(border.acknowledge(), Ok(Event::Cleared));
    assert_eq!(border.acknowledge(), Ok(Event::None));
    rust.acknowledge();
    let end = [0.0; OBS];
    assert_eq!(border.last(&end), rust.last(&end).unwrap().map(Verdict::from).ok_or(Status::NoVerdict));
}

#[test]
fn a_diagnosis_writes_what_there_is_room_for() {
    let mut border = monitor();
    assert_eq!(border.diagnose(&mut []), Err(Status::NoDiagnosis));
    for (obs, action) in faulty() {
        let _ = border.step(&[obs[0] + 50.0, obs[1], obs[2] - 50.0], &action);
    }
    let mut one = [BLANK; 1];
    let (none, found) = (border.diagnose(&mut []).unwrap(), border.diagnose(&mut one).unwrap());
    assert_eq!(none, found);
    assert!(found.n_channels > 1 && one[0] != BLANK, "{found:?} {one:?}");
}

#[test]
fn transitions_are_ticks_and_a_gap_is_noticed() {
    let (mut border, mut rust, ticks) = (monitor(), opened(&FILE), faulty());
    for pair in ticks.windows(2) {
        let ((obs, action), (next_obs, _)) = (&pair[0], &pair[1]);
        let want = rust.transition(&Transition { obs, action, next_obs }).unwrap();
        assert_eq!(border.transition(obs, action, next_obs), Ok(want.into()));
    }
    assert_eq!(border.transition(&ticks[0].0, &[0.0], &[0.0; OBS]), Err(Status::Gap));
    assert!(last_error().contains("a step is missing, or a reset"), "{}", last_error());
    assert_eq!(border.reset(), Status::Ok);
    assert_eq!(border.transition(&ticks[0].0, &[0.0], &[0.0; OBS]).unwrap().step, 0);
}

#[test]
fn an_episode_of_a_group_has_its_threshold() {
    let (mut border, mut rust) = (monitor(), opened(&FILE));
    let first = |border: &mut Opened| {
        assert_eq!(border.step(&[0.0; OBS], &[0.0]), Err(Status::NoVerdict));
        border.step(&[0.1; OBS], &[0.0]).unwrap().threshold
    };
    let of_all = first(&mut border);
    for group in [c"lift", c"push"] {
        assert_eq!(border.reset_group(group), Status::Ok);
        rust.begin(group.to_str().ok()).unwrap();
        assert_eq!(first(&mut border), rust.threshold());
    }
    assert_ne!(rust.threshold(), of_all);
    assert_eq!(border.reset_group(c"pusch"), Status::Group);
    assert_eq!(last_error(), "group: expected one of lift, push, found \"pusch\"; did you mean \"push\"?");
    assert_eq!(border.step(&[0.2; OBS], &[0.0]).unwrap().threshold, rust.threshold(), "it is as it was");
    assert_eq!(border.reset_group(c"\xff"), Status::Unreadable);
    assert_eq!((border.reset(), first(&mut border)), (Status::Ok, of_all));
}

#[test]
fn what_cannot_be_scored_has_a_status_and_a_text_and_changes_nothing() {
    let mut border = monitor();
    assert_eq!(border.step(&[0.0; OBS], &[0.0]), Err(Status::NoVerdict));
    assert_eq!(border.step(&[0.0; 2], &[0.0]), Err(Status::Width));
    assert_eq!(last_error(), "obs: expected 3 numbers, found 2");
    assert_eq!(border.step(&[0.0; OBS], &[]), Err(Status::Width));
    assert_eq!(border.step(&[0.1; OBS], &[0.0]).unwrap().step, 0);
}

#[test]
fn a_number_that_was_not_read_is_counted_and_its_sensor_is_lost_in_the_end() {
    let (mut border, limit) = (monitor(), opened(&FILE).about().lost_after);
    assert_eq!(border.step(&[0.0; OBS], &[0.0]), Err(Status::NoVerdict));
    for t in 0..=limit {
        let found = border.step(&[0.0, f64::INFINITY, 0.0], &[0.0]).unwrap();
        let event = if t == limit { SensorEvent::Lost } else { SensorEvent::None };
        assert_eq!((found.missing, found.stale, found.sensor_event), (1, t + 1, event));
    }
    // SAFETY: the monitor is open.
    let lost = |border: &Opened| [0, 1, 2, 3].map(|i| unsafe { c::offnominal_is_lost(border.0, i) });
    assert_eq!(lost(&border), [0, 1, 0, 0]);
    let found = border.step(&[0.0; OBS], &[0.0]).unwrap();
    assert_eq!((found.missing, found.lost, found.sensor_event), (0, 0, SensorEvent::Returned));
    assert_eq!(lost(&border), [0; 4]);
}

#[test]
fn texts_say_what_the_monitor_is() {
    let (border, rust) = (monitor(), opened(&FILE));
    // SAFETY: the monitor is open.
    unsafe {
        assert_eq!((c::offnominal_n_obs(border.0), c::offnominal_n_action(border.0)), (3, 1));
        assert_eq!(text(c::offnominal_obs_name(border.0, 2)), "z");
        assert_eq!(text(c::offnominal_obs_unit(border.0, 0)), "m");
        assert_eq!(text(c::offnominal_action_name(border.0, 0)), "push");
        assert_eq!(text(c::offnominal_action_unit(border.0, 0)), "m");
        assert!(c::offnominal_obs_name(border.0, 3).is_null());
        assert!(c::offnominal_action_unit(border.0, usize::MAX).is_null());
        assert_eq!(text(c::offnominal_about(border.0)), serde_json::to_string(rust.about()).unwrap());
    }
    assert_eq!(text(c::offnominal_version()), env!("CARGO_PKG_VERSION"));
    assert_eq!(c::offnominal_abi(), ABI);
}

#[test]
fn null_and_misaligned_addresses_are_errors() {
    let (border, x) = (monitor(), [0.0_f64; 8]);
    let mut verdict = MaybeUninit::uninit();
    let (m, x, v, n) = (border.0, x.as_ptr(), verdict.as_mut_ptr(), null());
    let misaligned = x.cast::<u8>().wrapping_add(1).cast::<f64>();
    // SAFETY: addresses are sound, or null or not aligned, which the library looks at.
    unsafe {
        let calls = [
            c::offnominal_open(null(), &mut null_mut()),
            c::offnominal_open(c"x".as_ptr(), null_mut()),
            c::offnominal_open_bytes(null(), 9, &mut null_mut()),
            c::offnominal_open_bytes([0; 9].as_ptr(), 9, null_mut()),
            c::offnominal_reset(null_mut()),
            c::offnominal_reset_group(null_mut(), c"lift".as_ptr()),
            c::offnominal_reset_group(m, null()),
            c::offnominal_step(null_mut(), x, 3, x, 1, v),
            c::offnominal_step(m, n, 3, x, 1, v),
            c::offnominal_step(m, misaligned, 3, x, 1, v),
            c::offnominal_step(m, x, 3, n, 1, v),
            c::offnominal_step(m, x, 3, x, 1, null_mut()),
            c::offnominal_step(m, x, 3, x, 1, v.cast::<u8>().wrapping_add(4).cast()),
            c::offnominal_last(null_mut(), x, 3, v),
            c::offnominal_last(m, n, 3, v),
            c::offnominal_last(m, x, 3, null_mut()),
            c::offnominal_transition(m, x, 3, x, 1, n, v),
            c::offnominal_transition(m, x, 3, x, 1, x, null_mut()),
            c::offnominal_acknowledge(null_mut(), &mut Event::None),
            c::offnominal_acknowledge(m, null_mut()),
            c::offnominal_diagnose(m, null_mut(), null_mut(), 0),
            c::offnominal_shares(m, null_mut(), 3),
            c::offnominal_candidates(m, null_mut(), 1, &mut 0),
            c::offnominal_candidates(m, null_mut(), 0, null_mut()),
            c::offnominal_step_many(null(), 1, x, 3, x, 1, v, &mut Status::Ok),
            c::offnominal_step_many(&m, 1, x, 3, x, 1, v, null_mut()),
        ];
        assert_eq!(calls, [Status::Pointer; 26]);
        assert_eq!(last_error(), "statuses: expected an aligned address, found null or another one");
        assert_eq!((c::offnominal_n_obs(null()), c::offnominal_n_action(null())), (0, 0));
        assert!(c::offnominal_about(null()).is_null() && c::offnominal_obs_name(null(), 0).is_null());
        c::offnominal_close(null_mut());
        let many = [
            c::offnominal_step(m, x, usize::MAX, x, 1, v),
            c::offnominal_step_many(&m, usize::MAX, x, 3, x, 1, v, &mut Status::Ok),
            c::offnominal_step_many(&m, 1, x, usize::MAX / 2, x, 1, v, &mut Status::Ok),
        ];
        assert_eq!(many, [Status::Width; 3]);
    }
}

#[test]
fn what_is_no_monitor_is_refused_and_named() {
    let mut at = std::ptr::dangling_mut();
    // SAFETY: both addresses are those of what is said.
    let mut open = |path: &std::ffi::CStr| unsafe { c::offnominal_open(path.as_ptr(), &mut at) };
    assert_eq!(open(c"no/such.monitor"), Status::Unreadable);
    assert!(last_error().starts_with("cannot read no/such.monitor: "), "{}", last_error());
    assert_eq!(open(c"\xff"), Status::Unreadable);
    assert_eq!(last_error(), "path: expected UTF-8, found other bytes");
    assert!(at.is_null());
    assert_eq!(Opened::from_bytes(&FILE[..100]).err(), Some(Status::File));
    assert_eq!(Opened::from_bytes(&[]).err(), Some(Status::File));
    assert!(last_error().starts_with("expected a file written by `offnominal fit`"), "{}", last_error());
}

#[test]
fn a_batch_is_its_monitors_one_by_one() {
    let all: Vec<Opened> = (0..3).map(|_| monitor()).collect();
    let handles = [all[0].0, null_mut(), all[1].0, all[2].0];
    let mut rust: Vec<_> = (0..4).map(|_| opened(&FILE)).collect();
    let (mut verdicts, mut statuses) = ([const { MaybeUninit::uninit() }; 4], [Status::Ok; 4]);
    for (t, (obs, action)) in faulty().into_iter().enumerate() {
        let mut rows: Vec<f64> = (0..4).flat_map(|i| obs.map(|x| x + f64::from(i))).collect();
        rows[3 * OBS] = if t == 9 { f64::INFINITY } else { rows[3 * OBS] };
        let status = step_many(&handles, &rows, &[action[0]; 4], &mut verdicts, &mut statuses);
        assert_eq!(status, Status::Pointer);
        assert!(last_error().starts_with("monitor 1: "), "{}", last_error());
        for i in [0, 2, 3] {
            let want = rust[i].step(&rows[i * OBS..][..OBS], &action).ok().flatten().map(Verdict::from);
            // SAFETY: it was written, as the status is `Ok`.
            let found = (statuses[i] == Status::Ok).then(|| unsafe { verdicts[i].assume_init() });
            assert_eq!(found, want);
        }
    }
    let (mut verdicts, mut statuses) = ([const { MaybeUninit::uninit() }; 2], [Status::Refused; 2]);
    let status = step_many(&[all[0].0; 2], &[0.0; 2 * OBS], &[0.0; 2], &mut verdicts, &mut statuses);
    assert_eq!((status, statuses), (Status::Ok, [Status::Ok; 2]));
}

#[test]
fn watching_through_the_border_does_not_allocate() {
    let (mut border, many, ticks) = (monitor(), [monitor(), monitor()], faulty());
    let (handles, mut channels) = ([many[0].0, many[1].0], [BLANK; OBS]);
    let (mut verdicts, mut statuses) = ([const { MaybeUninit::uninit() }; 2], [Status::Ok; 2]);
    let mut episode = || {
        border.reset();
        for (obs, action) in &ticks {
            let _ = border.step(obs, action);
            let both = [*obs, *obs];
            let both = both.as_flattened();
            assert_eq!(step_many(&handles, both, &[action[0]; 2], &mut verdicts, &mut statuses), Status::Ok);
        }
        border.last(&ticks[0].0).unwrap();
        border.transition(&ticks[0].0, &[0.0], &[0.0; OBS]).unwrap();
        border.diagnose(&mut channels).unwrap();
        border.acknowledge().unwrap();
    };
    episode();
    assert_eq!(allocation_counter::measure(episode).count_total, 0);
}

#[test]
fn a_monitor_moves_between_threads_and_an_error_stays_in_its_own() {
    let mut border = monitor();
    assert_eq!(border.step(&[0.0; 2], &[]), Err(Status::Width));
    let here = last_error();
    let moved = std::thread::spawn(move || {
        let before = last_error();
        let _ = border.step(&[0.0; OBS], &[0.0]);
        (before, border.step(&[0.0; OBS], &[0.0]).map(|v| v.step), border)
    });
    let (there, step, border) = moved.join().unwrap();
    assert_eq!((there.as_str(), step), ("", Ok(0)));
    std::thread::spawn(move || drop(border)).join().unwrap();
    assert_eq!(last_error(), here);
}
