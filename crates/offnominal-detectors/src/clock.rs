//! The number of steps since the episode began: a baseline that cheats on purpose.
//!
//! score(t) = t, counted from 1 at the first step of the episode.
//!
//! It looks at no signal at all. Whatever it detects is a flaw of the evaluation: where an anomaly lasts from its onset
//! to the end, later steps are the anomalous ones, and the clock reaches a local AUROC of 1. Against time-matched
//! nominal twins it must get exactly 0.5. A detector that does not beat the clock has shown nothing.
//!
//! Assumes: nothing.
//! Blind to: everything but time.
//! Cost: fit O(1), score O(1).
//! Reference: none; it is this project's control.
//!
//! ```
//! use offnominal_core::detector::{Nominal, Signals};
//! use offnominal_core::Rng;
//! let nominal = Signals::new(&[0.0; 4], &[0.0; 3], 1, 1);
//! let clock = offnominal_detectors::catalogue().build("clock", &serde_json::json!({})).unwrap();
//! let mut scores = Vec::new();
//! clock.fit(Nominal::new(&[nominal], &[]), &mut Rng::new(0)).unwrap().score_episode(&nominal, &mut scores);
//! assert_eq!(scores, [1.0, 2.0, 3.0]);
//! ```

use crate::shared::prelude::*;

/// The recipe; it has no parameters.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Clock {}

/// The entry of [`Clock`].
pub const ENTRY: Entry<dyn Detector> = entry!(
    Clock as dyn Detector,
    "clock",
    "baseline: steps since the episode began, sees no signal",
    exempt: &[(Law::SeesGrossFaults, "it sees no signal, on purpose")]
);

impl Detector for Clock {
    fn fit(&self, Nominal { train, .. }: Nominal<'_>, _: &mut Rng) -> Result<Box<dyn Scorer>, FitError> {
        check(train, 1)?;
        Ok(Box::new(Fitted { n_steps: 0 }))
    }

    fn load(&self, _: &Reader<'_>, _: Option<&dyn Policy>) -> Result<Box<dyn Scorer>, ArchiveError> {
        Ok(Box::new(Fitted { n_steps: 0 }))
    }
}

#[derive(Clone)]
struct Fitted {
    n_steps: u64,
}

impl Scorer for Fitted {
    fn reset(&mut self) {
        self.n_steps = 0;
    }

    fn score(&mut self, _seen: &Transition<'_>) -> f64 {
        self.n_steps += 1;
        self.n_steps as f64
    }

    fn save(&self, _: &mut Writer<'_>) -> Result<(), ArchiveError> {
        Ok(())
    }
}
