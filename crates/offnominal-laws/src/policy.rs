//! Laws of policies.

use crate::{Verdicts, Violation};
use offnominal_core::prelude::*;

/// Checks a policy for the given environment, and what it tells about itself if it does.
pub fn policy(policy: &dyn Policy, spec: &EnvSpec, exempt: &[(Law, &'static str)]) -> Vec<Violation> {
    let mut verdicts = Verdicts::new(exempt);
    let first = commands(policy, spec);
    verdicts.require(Law::SameSeedSameBits, first == commands(policy, spec), || "two runs differ".into());
    for row in first.chunks_exact(spec.action.len()) {
        for (value, channel) in row.iter().zip(&spec.action) {
            verdicts.require(Law::IsFinite, value.is_finite(), || format!("{} = {value}", channel.name));
            let inside = (channel.low..=channel.high).contains(&f64::from(*value));
            verdicts.require(Law::CommandsInBounds, inside, || {
                format!("{}: expected [{}, {}], found {value}", channel.name, channel.low, channel.high)
            });
            let is_one = !channel.is_choice() || value.fract() == 0.0;
            verdicts.require(Law::CommandsInBounds, is_one, || {
                format!("{}: expected one of {} choices, found {value}", channel.name, channel.choices)
            });
        }
    }
    if let Ok(mut samples) = policy.samples(None) {
        samples_are_sound(samples.as_mut(), spec, &mut verdicts);
    }
    verdicts.found
}

fn samples_are_sound(samples: &mut dyn PolicySamples, spec: &EnvSpec, verdicts: &mut Verdicts<'_>) {
    let (shape, law) = (samples.shape(), Law::SamplesAreSound);
    let widths = (spec.obs_width(), spec.act_width());
    verdicts.require(law, (shape.obs, shape.actions) == widths, || {
        format!("expected observations and actions of widths {widths:?}, found {shape:?}")
    });
    let obs = vec![0.3; spec.obs_width()];
    let m = shape.predictions;
    let lengths = |p: &Predictions<'_>| [p.heads.len(), p.actions.len(), p.features.len()];
    let outputs = |samples: &mut dyn PolicySamples| {
        let found = samples.predict(&obs, &mut Rng::new(13));
        (lengths(&found), [found.heads, found.actions, found.features].concat())
    };
    let (found, first) = outputs(samples);
    let expected = [m * shape.heads, m * shape.actions, m * shape.features];
    verdicts.require(law, found == expected, || format!("expected {expected:?} numbers, found {found:?}"));
    verdicts.require(law, first.iter().all(|v| v.is_finite()), || "a number is not finite".into());
    let again = outputs(samples.fork().as_mut()).1 == first && outputs(samples).1 == first;
    verdicts.require(law, again, || "the same seed gives other predictions".into());
}

fn commands(policy: &dyn Policy, spec: &EnvSpec) -> Vec<f32> {
    let mut policy = policy.fork();
    let (mut inputs, mut rng) = (Rng::new(11), Seed(12).rng());
    let mut obs = vec![0.0; spec.obs_width()];
    let mut all = vec![0.0; 50 * spec.action.len()];
    policy.reset();
    for action in all.chunks_exact_mut(spec.action.len()) {
        inputs.fill_normal(&mut obs);
        policy.act(&obs, action, &mut rng);
    }
    all
}
