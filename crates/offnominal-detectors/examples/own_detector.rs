//! A detector of your own, in one file: the size of the jump between two commands.
//!
//! score(t) = ‖a(t) − a(t−1)‖₂ / s, where s is the largest jump seen in training; 0 at an episode's first step.
//!
//! Assumes: a smooth policy.  Blind to: everything that leaves the commands smooth.
//! Cost: fit O(n), score O(a).
//!
//! Run it with `cargo run -p offnominal-detectors --example own_detector`.

use offnominal_core::detector::check;
use offnominal_core::prelude::*;
use serde::Deserialize;

/// The line that puts it into a catalogue.
const ENTRY: Entry<dyn Detector> =
    entry!(CommandJump as dyn Detector, "command-jump", "size of the jump between two commands");

/// The recipe: plain data, read from a campaign as `{ id = "command-jump", floor = 1e-6 }`.
#[derive(Deserialize)]
#[serde(default, deny_unknown_fields)]
struct CommandJump {
    /// Smallest scale, so that a policy that never moved does not divide by zero.
    floor: f64,
}

impl Default for CommandJump {
    fn default() -> Self {
        CommandJump { floor: 1e-6 }
    }
}

impl Detector for CommandJump {
    fn fit(
        &self,
        train: &[Signals<'_>],
        _: &[Signals<'_>],
        _: &mut Rng,
    ) -> Result<Box<dyn Monitor>, FitError> {
        check(train, 2)?;
        let mut raw = Fitted { scale: 1.0, last: Vec::with_capacity(train[0].act_width()) };
        let (mut scale, mut jumps) = (self.floor, Vec::new());
        for episode in train {
            raw.score_episode(episode, &mut jumps);
            scale = jumps.iter().copied().fold(scale, f64::max);
        }
        Ok(Box::new(Fitted { scale, ..raw }))
    }
}

/// The fitted detector: it remembers the last command, and forgets it when an episode begins.
#[derive(Clone)]
struct Fitted {
    scale: f64,
    last: Vec<f32>,
}

impl Monitor for Fitted {
    fn reset(&mut self) {
        self.last.clear();
    }

    fn score(&mut self, seen: &Transition<'_>) -> f64 {
        let squares = self.last.iter().zip(seen.action).map(|(a, b)| f64::from(a - b).powi(2));
        let jump = squares.sum::<f64>().sqrt() / self.scale;
        self.last.clear();
        self.last.extend_from_slice(seen.action);
        jump
    }

    fn fork(&self) -> Box<dyn Monitor> {
        Box::new(self.clone())
    }
}

fn main() {
    let detectors = Catalogue::new("detector", offnominal_detectors::ALL).with(ENTRY);
    let detector = detectors.build("command-jump", &serde_json::json!({})).expect("the defaults are sound");
    let blind = [(Law::SeesGrossFaults, "it looks at commands only")];
    for violation in offnominal_laws::detector(detector.as_ref(), &blind) {
        println!("breaks a law: {violation}");
    }
    println!("{} detectors: {}", detectors.entries().len(), ENTRY.summary);
}
