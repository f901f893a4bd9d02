//! Size of the jump between two actions.
//!
//! score(t) = min(‖a(t) − a(t−1)‖₂ / s, 1e12), where s is the largest jump seen in training; 0 at an episode's first step.
//!
//! Assumes: a smooth policy.
//! Blind to: everything that leaves the actions smooth.
//! Cost: fit O(n), score O(a).
//! Reference: none; it is the example of CONTRIBUTING.md.
//!
//! ```
//! use offnominal_core::detector::{Nominal, Signals};
//! use offnominal_core::Rng;
//! let detector = offnominal_detectors::catalogue().build("action-jump", &serde_json::json!({})).unwrap();
//! let nominal = Signals::new(&[0.0; 4], &[0.0, 1.0, 2.0], 1, 1);
//! let mut scores = Vec::new();
//! let mut monitor = detector.fit(Nominal::new(&[nominal], &[]), &mut Rng::new(0)).unwrap();
//! monitor.score_episode(&Signals::new(&[0.0; 4], &[0.0, 3.0, 3.0], 1, 1), &mut scores);
//! // The largest nominal jump is 1, so a jump of 3 scores 3.
//! assert_eq!(scores, [0.0, 3.0, 0.0]);
//! ```

use offnominal_core::detector::check;
use offnominal_core::prelude::*;
use serde::{Deserialize, Serialize};

/// The entry of [`ActionJump`].
pub const ENTRY: Entry<dyn Detector> = entry!(
    ActionJump as dyn Detector,
    "action-jump",
    "size of the jump between two actions",
    exempt: &[(Law::SeesGrossFaults, "it looks at actions only")]
);

/// The recipe: plain data, read from a campaign as `{ id = "action-jump", floor = 1e-6 }`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ActionJump {
    /// Smallest scale, so that a policy that never moved does not divide by zero.
    pub floor: f64,
}

impl Default for ActionJump {
    fn default() -> Self {
        ActionJump { floor: 1e-6 }
    }
}

impl Detector for ActionJump {
    fn fit(&self, Nominal { train, .. }: Nominal<'_>, _: &mut Rng) -> Result<Box<dyn Scorer>, FitError> {
        check(train, 2)?;
        let mut raw = Fitted { scale: 1.0, last: Vec::with_capacity(train[0].act_width()) };
        let (mut scale, mut jumps) = (self.floor, Vec::new());
        for episode in train {
            raw.score_episode(episode, &mut jumps);
            scale = jumps.iter().copied().fold(scale, f64::max);
        }
        Ok(Box::new(Fitted { scale, ..raw }))
    }

    fn load(&self, from: &Reader<'_>, _: Option<&dyn Policy>) -> Result<Box<dyn Scorer>, ArchiveError> {
        let scale: f64 = from.one("scale")?;
        from.require(scale > 0.0, "scale", "a number above zero", scale)?;
        Ok(Box::new(Fitted { scale, last: Vec::with_capacity(from.act_width) }))
    }
}

/// A score is finite, whatever comes.
const LARGEST: f64 = 1e12;

/// The fitted detector: it remembers the last action, and forgets it when an episode begins.
#[derive(Clone)]
struct Fitted {
    scale: f64,
    last: Vec<f32>,
}

impl Scorer for Fitted {
    fn reset(&mut self) {
        self.last.clear();
    }

    fn score(&mut self, seen: &Transition<'_>) -> f64 {
        let squares = self.last.iter().zip(seen.action).map(|(a, b)| f64::from(a - b).powi(2));
        // A failed policy may command anything; `min` also takes the place of what is no number.
        let jump = (squares.sum::<f64>().sqrt() / self.scale).min(LARGEST);
        self.last.clear();
        self.last.extend_from_slice(seen.action);
        jump
    }

    fn save(&self, to: &mut Writer<'_>) -> Result<(), ArchiveError> {
        to.put("scale", &[self.scale]);
        Ok(())
    }
}

fn main() {
    let detectors = Catalogue::new("detector", offnominal_detectors::ALL).with(ENTRY);
    let detector = detectors.build("action-jump", &serde_json::json!({})).expect("the defaults are sound");
    for violation in offnominal_laws::detector(detector.as_ref(), ENTRY.exempt) {
        println!("breaks a law: {violation}");
    }
    println!("{} detectors: {}", detectors.entries().len(), ENTRY.summary);
}
