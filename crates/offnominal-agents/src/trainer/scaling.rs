//! The normalisation that follows from the observations so far.

use crate::config::{Normalise, TrainConfig};
use crate::normaliser::{Normalisation, RunningMoments};

/// Moments of the observations so far, and the normalisation that follows from them.
pub(super) struct Scaling {
    pub(super) moments: RunningMoments,
    /// What observations go through.
    pub(super) map: Normalisation,
    centred: bool,
}

impl Scaling {
    /// What a recipe asks for, if it does.
    pub(super) fn of(config: &TrainConfig, width: usize) -> Option<Scaling> {
        let moments = RunningMoments::new(width);
        let (map, centred) = (moments.normalisation(), config.normalise == Normalise::Centred);
        (config.normalise != Normalise::None).then_some(Scaling { moments, map, centred })
    }

    /// Takes an observation into account.
    pub(super) fn push(&mut self, obs: &[f32]) {
        self.moments.push(obs);
        self.write();
    }

    /// Brings the map up to date.
    pub(super) fn write(&mut self) {
        if self.centred {
            self.moments.write_centred(&mut self.map);
        } else {
            self.moments.write(&mut self.map);
        }
    }
}
