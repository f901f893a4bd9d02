//! What a diagnosis says.

use crate::shared::prelude::*;

/// The largest size that is told: what is further off is a channel that hardly moved in training, so that its nominal
/// deviation is close to nothing and says only that it should not move.
pub const LARGEST: f64 = 1000.0;

/// Where a fault lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Family {
    /// What the policy reads is not what is.
    Observation,
    /// What is done is not what the policy actions.
    Action,
    /// The environment answers otherwise.
    Dynamics,
    /// Nothing that was learned tells: without commands a sensor that is wrong and a machine that is look alike.
    Unknown,
}

impl Family {
    /// All families that can be told apart, in the order of probabilities.
    pub const ALL: [Family; 3] = [Family::Observation, Family::Action, Family::Dynamics];

    /// Name in results.
    pub fn id(self) -> &'static str {
        match self {
            Family::Observation => "observation",
            Family::Action => "action",
            Family::Dynamics => "dynamics",
            Family::Unknown => "unknown",
        }
    }
}

/// A named fault that may explain an alarm: a parameter that has moved away from its neutral value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hypothesis {
    /// Name of the anomaly, such as `obs-offset` or `dyn-mass`.
    pub anomaly: String,
    /// Where it lies.
    pub family: Family,
    /// The magnitude at which there is no fault.
    pub neutral: f64,
    /// To which side of it the magnitude has moved.
    pub direction: Direction,
}

/// A side of the neutral magnitude.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// Larger magnitudes.
    Up,
    /// Smaller ones.
    Down,
}

impl Hypothesis {
    /// ln |magnitude − neutral|, the scale on which magnitudes are learned.
    pub(super) fn size(&self, magnitude: f64) -> f64 {
        libm::log((magnitude - self.neutral).abs().max(f64::MIN_POSITIVE))
    }

    /// The magnitude of a size.
    pub(super) fn magnitude(&self, size: f64) -> f64 {
        match self.direction {
            Direction::Up => self.neutral + libm::exp(size),
            Direction::Down => self.neutral - libm::exp(size),
        }
    }
}

/// A hypothesis in the light of what was seen.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Suspect {
    /// Which hypothesis.
    pub hypothesis: usize,
    /// How probable it is, if all families were equally likely before, and within each all of its hypotheses.
    pub probability: f64,
    /// Whether what was seen is like examples of it: a true hypothesis is, in nine of ten diagnoses or more, if faults are
    /// like those that taught it.
    pub is_compatible: bool,
    /// The magnitude that its parameter would have.
    pub magnitude: f64,
}

/// What is thought to be wrong.
#[derive(Debug, Clone, PartialEq)]
pub struct Diagnosis {
    /// The kind of fault that it looks like most.
    pub family: Family,
    /// Probability of each of [`Family::ALL`], as far as simulated faults tell; the same for all if the family is unknown.
    pub probabilities: [f64; 3],
    /// How many steps before the last one it began; at most [`super::HISTORY`] − 1.
    pub steps_ago: usize,
    /// Channels that vary, most deviant first.
    pub channels: Vec<Deviation>,
    /// The hypotheses that it was taught: those of the most probable family first, and within each the most probable. If none is compatible, it is another fault.
    pub suspects: Vec<Suspect>,
}

/// How far a channel is off.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Deviation {
    /// Which number of the observation.
    pub channel: usize,
    /// Root mean square of the residuals since the onset, in nominal standard deviations; near one if nothing is wrong, and
    /// at most [`LARGEST`].
    pub size: f64,
    /// Their mean.
    pub bias: f64,
}

/// Fills the deviations of the channels, most deviant first.
pub(super) fn rank(out: &mut [Deviation], channels: &[usize], z: &[f64], deviations: &[f64]) {
    let (d, n) = (deviations.len(), (z.len() / deviations.len()) as f64);
    for (j, (deviation, &channel)) in out.iter_mut().zip(channels).enumerate() {
        let column = || z.iter().skip(j).step_by(d).map(|z| z / deviations[j]);
        let size = (column().map(|w| w * w).sum::<f64>() / n).sqrt();
        *deviation = Deviation { channel, size, bias: column().sum::<f64>() / n };
    }
    out.sort_unstable_by(|a, b| b.size.total_cmp(&a.size).then(a.channel.cmp(&b.channel)));
    for Deviation { size, bias, .. } in out {
        (*size, *bias) = (size.min(LARGEST), bias.clamp(-LARGEST, LARGEST));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_channel_that_never_moved_is_first_with_a_size_that_can_be_read() {
        let mut found = [Deviation { channel: 0, size: 0.0, bias: 0.0 }; 2];
        rank(&mut found, &[3, 5], &[3.0, -4e5, 4.0, -4e5], &[1.0, 1e-3]);
        assert_eq!((found[0].channel, found[0].size, found[0].bias), (5, LARGEST, -LARGEST));
        assert_eq!((found[1].channel, found[1].bias), (3, 3.5));
    }

    #[test]
    fn a_magnitude_comes_back_from_its_size() {
        let mass = |direction| Hypothesis {
            anomaly: "dyn-mass".into(),
            family: Family::Dynamics,
            neutral: 1.5,
            direction,
        };
        for (direction, magnitude) in [(Direction::Up, 4.0), (Direction::Down, 0.25)] {
            let mass = mass(direction);
            assert!((mass.magnitude(mass.size(magnitude)) - magnitude).abs() < 1e-12);
        }
        assert!(mass(Direction::Up).size(1.5).is_finite());
    }
}
