//! Several anomalies at the same time.

use super::Anomaly;
use crate::Rng;
use crate::env::Env;
use crate::frame::Frame;

/// Anomalies that begin and end together. An action or an observation passes through them in their order.
pub(crate) struct Several(pub(crate) Vec<Box<dyn Anomaly>>);

impl Several {
    fn each(&mut self, mut hook: impl FnMut(&mut dyn Anomaly)) {
        self.0.iter_mut().for_each(|anomaly| hook(anomaly.as_mut()));
    }
}

/// Each part is fitted where it is built, so `fit` has nothing to do.
impl Anomaly for Several {
    fn begin(&mut self, env: &mut dyn Env, rng: &mut Rng) {
        self.each(|anomaly| anomaly.begin(env, rng));
    }

    fn on_action(&mut self, action: &mut [f32], rng: &mut Rng) {
        self.each(|anomaly| anomaly.on_action(action, rng));
    }

    fn on_observation(&mut self, obs: &mut [f32], rng: &mut Rng) {
        self.each(|anomaly| anomaly.on_observation(obs, rng));
    }

    fn on_frame(&mut self, frame: &mut Frame, rng: &mut Rng) {
        self.each(|anomaly| anomaly.on_frame(frame, rng));
    }

    fn end(&mut self, env: &mut dyn Env) {
        self.each(|anomaly| anomaly.end(env));
    }

    fn watch(&mut self, action: &[f32]) {
        self.each(|anomaly| anomaly.watch(action));
    }

    fn watch_observation(&mut self, obs: &[f32]) {
        self.each(|anomaly| anomaly.watch_observation(obs));
    }

    fn watch_frame(&mut self, frame: &Frame) {
        self.each(|anomaly| anomaly.watch_frame(frame));
    }
}
