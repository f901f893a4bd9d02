//! Corruptions of the screen before it is averaged, as a camera in front of it would have them.

use super::frame_stack::FrameStack;
use super::screen::{COLUMNS, ROWS};
use crate::corruption::{Corruption, Corruptor};
use offnominal_core::Rng;
use offnominal_core::spec::Parameter;

/// The corruptions of the benchmark, which are parameters of the environment: their names and what they are.
pub(super) const PARAMETERS: [(&str, Corruption); 4] = [
    ("screen-gaussian-noise", Corruption::GaussianNoise),
    ("screen-impulse-noise", Corruption::ImpulseNoise),
    ("screen-motion-blur", Corruption::MotionBlur),
    ("screen-pixelate", Corruption::Pixelate),
];

/// Their descriptions.
pub(super) fn parameters() -> impl Iterator<Item = Parameter> {
    PARAMETERS.iter().map(|(name, what)| {
        let meaning = format!("severity of {} on the colours of the screen; 0 = none", what.name());
        Parameter::new(name, &meaning, "1", 0.0, 0.0, 5.0)
    })
}

/// The severities, and what is needed to apply them. Its noise is its own: the game goes on as without it.
pub(super) struct Corruptions {
    severities: [f64; 4],
    active: Vec<Corruptor>,
    rgb: Vec<u8>,
    rng: Rng,
}

impl Default for Corruptions {
    fn default() -> Self {
        Corruptions { severities: [0.0; 4], active: Vec::new(), rgb: Vec::new(), rng: Rng::new(0) }
    }
}

impl Clone for Corruptions {
    fn clone(&self) -> Corruptions {
        let mut copy =
            Corruptions { severities: self.severities, rng: self.rng.clone(), ..Corruptions::default() };
        copy.prepare();
        copy
    }
}

impl Corruptions {
    /// Begins the noise of an episode.
    pub(super) fn start(&mut self, rng: &mut Rng) {
        self.rng = Rng::new(rng.bits());
    }

    /// Sets a severity; whether there is a parameter of that name.
    pub(super) fn get(&self, name: &str) -> Option<f64> {
        PARAMETERS.iter().position(|(n, _)| *n == name).map(|i| self.severities[i])
    }

    pub(super) fn set(&mut self, name: &str, severity: f64) -> bool {
        let Some(i) = PARAMETERS.iter().position(|(n, _)| *n == name) else { return false };
        self.severities[i] = severity;
        self.prepare();
        true
    }

    fn prepare(&mut self) {
        let chosen = PARAMETERS.iter().zip(self.severities).filter(|(_, severity)| *severity > 0.0);
        self.active = chosen.map(|((_, what), s)| Corruptor::new(*what, s, ROWS, COLUMNS, 3)).collect();
        self.rgb = if self.active.is_empty() { Vec::new() } else { vec![0; ROWS * COLUMNS * 3] };
    }

    /// Whether it changes anything.
    pub(super) fn is_active(&self) -> bool {
        !self.active.is_empty()
    }

    /// Lets the frame stack see the corrupted screen.
    pub(super) fn corrupt(&mut self, frames: &mut FrameStack) {
        frames.screen().rgb(&mut self.rgb);
        self.active.iter_mut().for_each(|c| c.apply(&mut self.rgb, &mut self.rng));
        frames.image_of(&self.rgb);
    }
}
