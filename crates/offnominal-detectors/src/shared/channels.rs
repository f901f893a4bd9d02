//! Observation and command of a step as one row of standardised numbers, in which constant channels stay.
//!
//! x_j = (v_j − m_j) / s_j, with v = (o′, a), held within ±[`MOST`]; what is not a number counts as −[`MOST`].
//!
//! m_j and s_j are the nominal mean and standard deviation. A channel that is constant in training has s_j = [`FLOOR`]
//! of its magnitude, or [`FLOOR`] itself if it is always zero. Control charts of machines watch such channels too: a
//! valve that never moved in training is news when it moves.

use offnominal_core::archive::{ArchiveError, Reader, Writer};
use offnominal_core::detector::Signals;
use offnominal_core::transition::Transition;
use offnominal_nets::standardiser::FLOOR as ROUNDING;

/// Unit of a constant channel, as a part of its magnitude.
const FLOOR: f64 = 0.01;
/// The largest standardised magnitude, so that a memory forgets a single freak in a few steps.
pub(crate) const MOST: f64 = 30.0;

/// Mean and unit of each channel.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Channels {
    mean: Vec<f64>,
    unit: Vec<f64>,
}

impl Channels {
    /// Measures the channels of some episodes, and says which are constant. Of the commands it reads as many as
    /// `n_commands`, all or none.
    pub fn fit(train: &[Signals<'_>], n_commands: usize) -> (Channels, Vec<usize>) {
        let width = train[0].obs_width() + n_commands;
        let (mut sums, mut squares, mut largest) = (vec![0.0; width], vec![0.0; width], vec![0.0_f64; width]);
        let each = |into: &mut [f64], add: &dyn Fn(&mut f64, f64, usize)| {
            for seen in train.iter().flat_map(|e| e.transitions()) {
                into.iter_mut().zip(values(&seen)).enumerate().for_each(|(j, (sum, v))| add(sum, v, j));
            }
        };
        each(&mut largest, &|most, v, _| *most = most.max(v.abs()));
        each(&mut sums, &|sum, v, _| *sum += v);
        let n = train.iter().map(Signals::len).sum::<usize>() as f64;
        let mean: Vec<f64> = sums.iter().map(|sum| sum / n).collect();
        each(&mut squares, &|sum, v, j| *sum += (v - mean[j]).powi(2));
        let unit: Vec<f64> = squares.iter().map(|sum| (sum / n).sqrt()).collect();
        with_floor(mean, unit, &largest)
    }

    /// Writes the units.
    pub fn save(&self, to: &mut Writer<'_>) {
        to.put("mean", &self.mean);
        to.put("unit", &self.unit);
    }

    /// Reads the units of all observation channels and so many commands.
    pub fn load(from: &Reader<'_>, n_commands: usize) -> Result<Channels, ArchiveError> {
        let width = from.obs_width + n_commands;
        let (mean, unit) = (from.exactly::<f64>("mean", width)?, from.exactly::<f64>("unit", width)?);
        from.require(mean.iter().all(|m| m.is_finite()), "mean", "finite numbers", "others")?;
        let is_sound = unit.iter().all(|u| *u > 0.0 && u.is_finite());
        from.require(is_sound, "unit", "finite numbers above zero", "others")?;
        Ok(Channels { mean: mean.to_vec(), unit: unit.to_vec() })
    }

    /// Number of channels.
    pub fn width(&self) -> usize {
        self.mean.len()
    }

    /// The number of channel j that is x standardised.
    pub fn value(&self, j: usize, x: f64) -> f64 {
        self.mean[j] + self.unit[j] * x
    }

    /// Writes the row of a step.
    pub fn apply(&self, seen: &Transition<'_>, x: &mut [f64]) {
        for ((x, v), (mean, unit)) in x.iter_mut().zip(values(seen)).zip(self.mean.iter().zip(&self.unit)) {
            let z = (v - mean) / unit;
            *x = if z.is_nan() { -MOST } else { z.clamp(-MOST, MOST) };
        }
    }
}

/// The numbers of a step: what is observed after it, then the command.
fn values<'a>(seen: &Transition<'a>) -> impl Iterator<Item = f64> + use<'a> {
    seen.next_obs.iter().chain(seen.action).map(|&v| f64::from(v))
}

/// Gives constant channels a unit, and lists them.
fn with_floor(mean: Vec<f64>, mut unit: Vec<f64>, largest: &[f64]) -> (Channels, Vec<usize>) {
    let is_constant = |j: &usize| unit[*j] <= (ROUNDING * largest[*j]).max(f64::from(f32::MIN_POSITIVE));
    let constant: Vec<usize> = (0..unit.len()).filter(is_constant).collect();
    for &j in &constant {
        let has_magnitude = largest[j] > f64::from(f32::MIN_POSITIVE);
        unit[j] = FLOOR * if has_magnitude { largest[j] } else { 1.0 };
    }
    (Channels { mean, unit }, constant)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(next_obs: &[f32], action: &[f32], want: [f64; 4]) {
        // Rows after the steps: (1, 5, 0) and (3, 5, 0); the command is −1, then 1.
        let nominal = Signals::new(&[9.0, 9.0, 9.0, 1.0, 5.0, 0.0, 3.0, 5.0, 0.0], &[-1.0, 1.0], 3, 1);
        let (channels, constant) = Channels::fit(&[nominal], 1);
        assert_eq!((channels.width(), constant), (4, vec![1, 2]));
        let mut x = [0.0; 4];
        channels.apply(&Transition { obs: &[0.0; 3], action, next_obs }, &mut x);
        assert!(x.iter().zip(want).all(|(a, b)| (a - b).abs() < 1e-12), "{x:?}");
    }

    #[test]
    fn channels_are_in_units_of_their_deviation() {
        check(&[4.0, 5.0, 0.0], &[0.5], [2.0, 0.0, 0.0, 0.5]);
    }

    #[test]
    fn a_constant_channel_is_in_units_of_a_hundredth() {
        check(&[2.0, 5.25, -0.125], &[0.0], [0.0, 5.0, -12.5, 0.0]);
    }

    #[test]
    fn a_broken_sensor_is_far_but_finite() {
        check(&[f32::NAN, f32::INFINITY, f32::MIN], &[1e9], [-MOST, MOST, -MOST, MOST]);
    }

    #[test]
    fn commands_may_be_left_out() {
        let nominal = Signals::new(&[0.0, 1.0, 3.0], &[-1.0, 1.0], 1, 1);
        let (channels, constant) = Channels::fit(&[nominal], 0);
        assert_eq!((channels.width(), constant), (1, vec![]));
    }
}
