//! A sound environment and a sound policy, and their broken siblings: each law must reject its own flaw by name.

mod anomaly;
mod detector;
mod image_detector;

use crate::{Violation, assert_lawful};
use offnominal_core::prelude::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// What is wrong with a [`Spring`].
#[derive(Debug, Clone, Copy, PartialEq)]
enum Flaw {
    None,
    SharesState,
    OutOfBounds,
    NotFinite,
    ConstantChannel,
    SameStart,
    NamelessChannel,
    AcceptsAnything,
    IgnoresRange,
    NominalIsOff,
    DeadParameter,
    ForgetsDraws,
    ReadsNominal,
    TakesChoicesLiterally,
    OutlivesNonsense,
    FailsWithRoomLeft,
    DrawsWider,
}

impl Flaw {
    /// Whether the push of the fixture is a choice among three.
    fn is_about_choices(self) -> bool {
        matches!(self, Flaw::TakesChoicesLiterally | Flaw::OutlivesNonsense)
    }
}

/// A mass on a spring, pushed by the action.
#[derive(Clone)]
struct Spring {
    flaw: Flaw,
    spec: Arc<EnvSpec>,
    x: f64,
    v: f64,
    stiffness: f64,
    /// Steps taken by this environment and all its forks: what no environment should have.
    shared: Arc<AtomicU64>,
}

impl Spring {
    fn with(flaw: Flaw) -> Spring {
        let name = if flaw == Flaw::NamelessChannel { "" } else { "x" };
        let spec = EnvSpec {
            id: "spring".into(),
            summary: "a mass on a spring".into(),
            source: "a fixture".into(),
            observation: vec![
                Channel::new(name, "position", "m", -50.0, 50.0),
                Channel::unbounded("v", "speed", "m/s"),
            ],
            action: vec![if flaw.is_about_choices() {
                Channel::choice("force", "push", 3)
            } else {
                Channel::new("force", "push", "N", -1.0, 1.0)
            }],
            dt_secs: 0.1,
            horizon: 50,
            parameters: vec![Parameter::new("stiffness", "of the spring", "N/m", 1.0, 0.0, 10.0)],
            initial: vec!["x".into()],
            reward: "−x²".into(),
            reset: "normal".into(),
            success: "none".into(),
            ..EnvSpec::default()
        };
        Spring { flaw, spec: Arc::new(spec), x: 0.0, v: 0.0, stiffness: 1.0, shared: Arc::default() }
    }
}

impl Env for Spring {
    spec_and_fork!();

    fn draw(&self, rng: &mut Rng) -> Vec<f64> {
        if self.flaw == Flaw::SameStart { vec![0.3] } else { vec![rng.normal()] }
    }

    fn start(&mut self, x: &[f64], _: &mut Rng) {
        (self.x, self.v) = (x[0], 0.0);
        if self.flaw == Flaw::ForgetsDraws {
            self.stiffness = 1.0;
        }
    }

    fn observe(&self, obs: &mut [f32]) {
        obs[0] = match self.flaw {
            Flaw::OutOfBounds => 51.0 + self.x as f32,
            Flaw::NotFinite => f32::NAN,
            Flaw::ConstantChannel => 1.0,
            _ => self.x as f32,
        };
        obs[1] = self.v as f32;
    }

    fn step(&mut self, action: &[f32], rng: &mut Rng) -> Step {
        let push = match self.flaw {
            Flaw::OutlivesNonsense => self.spec.action[0].chosen(action[0]).unwrap_or(0) as f64,
            _ => f64::from(action[0]),
        };
        self.v += 0.1 * (push - self.stiffness * self.x) + 0.01 * rng.normal();
        if self.flaw == Flaw::SharesState {
            self.v += self.shared.fetch_add(1, Ordering::Relaxed) as f64;
        }
        self.x += 0.1 * self.v;
        Step::running(-self.x * self.x)
    }

    fn set_parameter(&mut self, name: &str, value: f64) -> Result<(), ParameterError> {
        if self.flaw == Flaw::AcceptsAnything {
            return Ok(());
        }
        match self.flaw {
            Flaw::IgnoresRange if !value.is_nan() => self.spec.parameter(name).map(|_| ())?,
            _ => self.spec.check(name, value)?,
        }
        match self.flaw {
            Flaw::DeadParameter => {}
            Flaw::NominalIsOff => self.stiffness = value + 0.1,
            _ => self.stiffness = value,
        }
        Ok(())
    }

    fn parameter(&self, name: &str) -> Option<f64> {
        let found = if self.flaw == Flaw::ReadsNominal { 1.0 } else { self.stiffness };
        (name == "stiffness").then_some(found)
    }

    fn failure_search(&self) -> &dyn FailureSearch {
        self
    }
}

impl FailureSearch for Spring {
    fn margin(&self) -> Option<f64> {
        let room = 40.0 - self.x.abs();
        Some(if self.flaw == Flaw::FailsWithRoomLeft { -room } else { room })
    }

    fn normals(&self) -> usize {
        1
    }

    fn of_normals(&self, z: &[f64], _: &mut Rng) -> Option<Vec<f64>> {
        Some(vec![if self.flaw == Flaw::DrawsWider { 1.5 * z[0] } else { z[0] }])
    }
}

/// What is wrong with a [`Pusher`].
#[derive(Debug, Clone, Copy, PartialEq)]
enum PolicyFlaw {
    None,
    TooStrong,
    DiffersByRun,
    NotFinite,
}

/// A policy that pushes against the position.
#[derive(Clone)]
struct Pusher(PolicyFlaw, Arc<AtomicU64>);

impl Policy for Pusher {
    fn act(&mut self, obs: &[f32], action: &mut [f32], _: &mut Rng) {
        let push = (-obs[0]).clamp(-1.0, 1.0);
        action[0] = match self.0 {
            PolicyFlaw::None => push,
            PolicyFlaw::TooStrong => 2.0 * push.signum(),
            PolicyFlaw::DiffersByRun => (self.1.fetch_add(1, Ordering::Relaxed) % 7) as f32 / 7.0,
            PolicyFlaw::NotFinite => f32::NAN,
        };
    }

    fn fork(&self) -> Box<dyn Policy> {
        Box::new(self.clone())
    }
}

fn laws(found: &[Violation]) -> Vec<Law> {
    found.iter().map(|v| v.law).collect()
}

#[track_caller]
fn breaks(flaw: Flaw, law: Law) {
    let found = crate::env(&Spring::with(flaw), &[]);
    assert!(laws(&found).contains(&law), "{flaw:?} should break {law:?}, found {found:?}");
}

#[track_caller]
fn policy_breaks(flaw: PolicyFlaw, law: Law) {
    let found = crate::policy(&Pusher(flaw, Arc::default()), Spring::with(Flaw::None).spec(), &[]);
    assert!(laws(&found).contains(&law), "{flaw:?} should break {law:?}, found {found:?}");
}

#[test]
fn a_sound_environment_and_a_sound_policy_are_lawful() {
    let spring = Spring::with(Flaw::None);
    assert_lawful("spring", &crate::env(&spring, &[]));
    assert_lawful("pusher", &crate::policy(&Pusher(PolicyFlaw::None, Arc::default()), spring.spec(), &[]));
}

#[test]
fn every_flaw_of_an_environment_is_caught_by_name() {
    breaks(Flaw::SharesState, Law::SameSeedSameBits);
    breaks(Flaw::SharesState, Law::ForkSharesFuture);
    breaks(Flaw::OutOfBounds, Law::StaysInBounds);
    breaks(Flaw::NotFinite, Law::IsFinite);
    breaks(Flaw::ConstantChannel, Law::EveryChannelVaries);
    breaks(Flaw::SameStart, Law::StartVaries);
    breaks(Flaw::NamelessChannel, Law::SpecIsSound);
    breaks(Flaw::AcceptsAnything, Law::RefusesBadParameters);
    breaks(Flaw::IgnoresRange, Law::RefusesBadParameters);
    breaks(Flaw::NominalIsOff, Law::NominalIsNeutral);
    breaks(Flaw::DeadParameter, Law::ParameterBites);
    breaks(Flaw::DeadParameter, Law::DrawArrives);
    breaks(Flaw::ForgetsDraws, Law::DrawArrives);
    breaks(Flaw::ReadsNominal, Law::DrawArrives);
    breaks(Flaw::TakesChoicesLiterally, Law::RoundsChoices);
    breaks(Flaw::OutlivesNonsense, Law::RoundsChoices);
    breaks(Flaw::FailsWithRoomLeft, Law::MarginTellsFailure);
    breaks(Flaw::DrawsWider, Law::NormalsGiveDraws);
}

#[test]
fn every_flaw_of_a_policy_is_caught_by_name() {
    policy_breaks(PolicyFlaw::TooStrong, Law::CommandsInBounds);
    policy_breaks(PolicyFlaw::DiffersByRun, Law::SameSeedSameBits);
    policy_breaks(PolicyFlaw::NotFinite, Law::IsFinite);
}

#[test]
fn a_policy_makes_choices_and_nothing_between_them() {
    let choosing = Spring::with(Flaw::OutlivesNonsense);
    let found = crate::policy(&Pusher(PolicyFlaw::None, Arc::default()), choosing.spec(), &[]);
    assert!(found.iter().any(|v| v.finding.contains("expected one of 3 choices")), "{found:?}");
}

#[test]
fn an_exemption_silences_its_own_law_only() {
    let constant = Spring::with(Flaw::ConstantChannel);
    let found = crate::env(&constant, &[(Law::EveryChannelVaries, "a fixture")]);
    assert!(!laws(&found).contains(&Law::EveryChannelVaries));
    let found = crate::env(&constant, &[(Law::IsFinite, "the wrong law")]);
    assert!(laws(&found).contains(&Law::EveryChannelVaries));
}
