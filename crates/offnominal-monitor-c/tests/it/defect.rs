//! What happens where the library itself fails: nothing unwinds, and the monitor is not used again.

use offnominal_core::alarm::Settings;
use offnominal_core::archive::Archive;
use offnominal_core::prelude::*;
use offnominal_monitor::{About, Calibrated, ChannelName, DetectorRecipe, FORMAT, Identity, Monitor};
use offnominal_monitor_c::{
    Event, Handle, Status, Verdict, offnominal_acknowledge, offnominal_close, offnominal_last_error,
    offnominal_n_obs, offnominal_obs_name, offnominal_reset, offnominal_step, offnominal_step_many,
};
use serde::{Deserialize, Serialize};
use std::ffi::CStr;
use std::mem::MaybeUninit;
use std::ptr::null_mut;

/// A detector with a defect: it panics at an observation below zero.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Defective {}

const ENTRY: Entry<dyn Detector> = entry!(Defective as dyn Detector, "defective", "panics below zero");

impl Detector for Defective {
    fn fit(&self, _: Nominal<'_>, _: &mut Rng) -> Result<Box<dyn Scorer>, FitError> {
        Ok(Box::new(Defective {}))
    }

    fn load(&self, _: &Reader<'_>, _: Option<&dyn Policy>) -> Result<Box<dyn Scorer>, ArchiveError> {
        Ok(Box::new(Defective {}))
    }
}

impl Scorer for Defective {
    fn score(&mut self, seen: &Transition<'_>) -> f64 {
        assert!(seen.next_obs[0] >= 0.0, "the defect");
        0.0
    }

    fn save(&self, _: &mut Writer<'_>) -> Result<(), ArchiveError> {
        Ok(())
    }
}

fn about() -> About {
    let identity = || Identity { id: "none".into(), digest: String::new() };
    About {
        format: FORMAT,
        engine: env!("CARGO_PKG_VERSION").into(),
        detector: DetectorRecipe { id: "defective".into(), params: serde_json::json!({}) },
        environment: identity(),
        policy: identity(),
        // A zero would end the name in C.
        observation: vec![ChannelName { name: "x\0y".into(), unit: "m".into(), ..ChannelName::default() }],
        action: vec![],
        dt_secs: 0.1,
        train_episodes: 1,
        seed: 1,
        diagnoses: false,
        hypotheses: vec![],
        threshold: Calibrated {
            rule: "fixed".into(),
            alpha: None,
            confidence: None,
            run_length: None,
            statistic: "score".into(),
            value: 1.0,
            episodes: 1,
            longest: None,
            false_alarms: None,
            promised_per_hour: None,
            per_hour: None,
            drift: None,
        },
        alarm: Settings::default(),
        missing: offnominal_core::partial::Missing::Held,
        lost_after: 10,
        usual: vec![],
        groups: None,
        mapping: None,
    }
}

fn defective() -> *mut Handle {
    let catalogue = offnominal_detectors::catalogue().with(ENTRY);
    Box::into_raw(Box::new(Handle::new(
        Monitor::new(about(), &Archive::default(), &catalogue, None).unwrap(),
    )))
}

fn step(monitor: *mut Handle, x: f64) -> Status {
    let mut verdict = MaybeUninit::uninit();
    // SAFETY: the monitor is open; there is one number and no action.
    unsafe { offnominal_step(monitor, &x, 1, std::ptr::null(), 0, verdict.as_mut_ptr()) }
}

fn last_error() -> String {
    // SAFETY: it is a text of the library.
    unsafe { CStr::from_ptr(offnominal_last_error()) }.to_str().unwrap().to_string()
}

#[test]
fn a_panic_is_a_status_and_ends_the_use_of_its_monitor() {
    let monitor = defective();
    assert_eq!([1.0, 2.0].map(|x| step(monitor, x)), [Status::NoVerdict, Status::Ok]);
    assert_eq!(step(monitor, -1.0), Status::Panicked);
    assert_eq!(last_error(), "the library failed, which is a defect of it: the defect");
    assert_eq!(step(monitor, 1.0), Status::Poisoned);
    // SAFETY: the monitor is open, and closed once.
    unsafe {
        assert_eq!(offnominal_reset(monitor), Status::Poisoned);
        assert_eq!(offnominal_acknowledge(monitor, &mut Event::None), Status::Poisoned);
        assert_eq!(offnominal_n_obs(monitor), 1);
        assert_eq!(CStr::from_ptr(offnominal_obs_name(monitor, 0)).to_str().unwrap(), "x\u{fffd}y");
        offnominal_close(monitor);
    }
}

#[test]
fn a_panic_in_a_batch_ends_one_monitor_of_it() {
    let all = [defective(), defective(), null_mut(), defective()];
    let mut verdicts = [const { MaybeUninit::<Verdict>::uninit() }; 4];
    let mut statuses = [Status::Ok; 4];
    let mut tick = |rows: [f64; 4]| {
        let (to, none) = (verdicts.as_mut_ptr().cast(), std::ptr::null());
        // SAFETY: the monitors are open or null; there are four rows of one number and no action.
        let status = unsafe {
            offnominal_step_many(all.as_ptr(), 4, rows.as_ptr(), 1, none, 0, to, statuses.as_mut_ptr())
        };
        (status, statuses)
    };
    use Status::{NoVerdict, Ok, Panicked, Pointer, Poisoned};
    assert_eq!(tick([1.0; 4]), (Pointer, [NoVerdict, NoVerdict, Pointer, NoVerdict]));
    assert_eq!(tick([1.0, -1.0, 1.0, 1.0]), (Panicked, [Ok, Panicked, Pointer, Ok]));
    assert_eq!(tick([1.0; 4]), (Poisoned, [Ok, Poisoned, Pointer, Ok]));
    assert!(last_error().starts_with("monitor 1: "), "{}", last_error());
    for monitor in all {
        // SAFETY: each is open or null, and closed once.
        unsafe { offnominal_close(monitor) };
    }
}
