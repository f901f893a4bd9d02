//! An environment that records what really happened in it.

use offnominal_core::prelude::*;
use std::collections::BTreeMap;

/// What was recorded; one row per step.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Record {
    /// Actions as they reached the environment.
    pub(super) commands: Vec<Vec<f32>>,
    /// True observations after each step.
    pub(super) observations: Vec<Vec<f32>>,
    /// Names of the parameters that were off their nominal values during each step.
    off_nominal: Vec<Vec<String>>,
}

impl Record {
    /// Whether all parameters were nominal during a step.
    pub(super) fn is_nominal_at(&self, t: usize) -> bool {
        self.off_nominal[t].is_empty()
    }
}

/// Forwards everything to an environment, and records it.
pub(super) struct Recorder {
    inner: Box<dyn Env>,
    parameters: BTreeMap<String, f64>,
    pub(super) record: Record,
}

impl Recorder {
    /// A recorder around a fork of the environment.
    ///
    /// # Panics
    /// If the environment cannot be forked.
    pub(super) fn of(env: &dyn Env) -> Recorder {
        let inner = env.fork().expect("the laws need an environment that can be forked");
        Recorder { inner, parameters: BTreeMap::new(), record: Record::default() }
    }

    fn off_nominal(&self) -> Vec<String> {
        let nominal = |name: &str| self.spec().parameter(name).expect("only known names are noted").nominal;
        self.parameters
            .iter()
            .filter(|(name, v)| nominal(name) != **v)
            .map(|(name, _)| name.clone())
            .collect()
    }
}

impl offnominal_core::env_layer::EnvLayer for Recorder {
    fn inner(&self) -> &dyn Env {
        self.inner.as_ref()
    }

    fn inner_mut(&mut self) -> &mut dyn Env {
        self.inner.as_mut()
    }

    fn around<'e>(&self, _: Box<dyn Env + 'e>) -> Option<Box<dyn Env + 'e>> {
        None
    }

    fn set_parameters(&mut self, values: &[(&str, f64)]) -> Result<(), ParameterError> {
        self.inner.set_parameters(values)?;
        self.parameters.extend(values.iter().map(|(name, value)| (name.to_string(), *value)));
        Ok(())
    }

    fn step(&mut self, action: &[f32], rng: &mut Rng) -> Step {
        self.record.off_nominal.push(self.off_nominal());
        let step = self.inner.step(action, rng);
        let mut seen = vec![0.0; self.inner.spec().obs_width()];
        self.inner.observe(&mut seen);
        self.record.commands.push(action.to_vec());
        self.record.observations.push(seen);
        step
    }
}
