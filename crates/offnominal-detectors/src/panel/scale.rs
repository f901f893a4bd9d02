//! The scale of a number that each nominal episode has one of.

use crate::shared::prelude::*;

/// In how many episodes a deviation is supposed.
const SUPPOSED_IN: f64 = 4.0;

/// Mean and deviation over nominal episodes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Scale {
    mean: f64,
    deviation: f64,
}

impl Scale {
    /// Of a number of each episode, whose deviation is supposed to be so much until many episodes say otherwise.
    pub fn fit(all: &[f64], supposed: f64) -> Scale {
        let n = all.len() as f64;
        let mean = all.iter().sum::<f64>() / n;
        let squares = all.iter().map(|x| (x - mean).powi(2)).sum::<f64>();
        let variance = (squares + SUPPOSED_IN * supposed * supposed) / (n - 1.0 + SUPPOSED_IN);
        Scale { mean, deviation: variance.sqrt() }
    }

    /// The scale on which every number is less by so many deviations.
    pub fn less(self, deviations: f64) -> Scale {
        Scale { mean: self.mean + deviations * self.deviation, ..self }
    }

    /// In deviations above the mean.
    pub fn of(self, x: f64) -> f64 {
        (x - self.mean) / self.deviation
    }

    pub fn save(self, to: &mut Writer<'_>) {
        to.put("largest", &[self.mean, self.deviation]);
    }

    pub fn load(from: &Reader<'_>) -> Result<Scale, ArchiveError> {
        let found = from.exactly::<f64>("largest", 2)?;
        let (mean, deviation) = (found[0], found[1]);
        let is_sound = mean.is_finite() && deviation.is_finite() && deviation > 0.0;
        from.require(is_sound, "largest", "a mean and a deviation above zero", "others")?;
        Ok(Scale { mean, deviation })
    }
}
