//! Standardisation by nominal mean and deviation, safe for what a broken sensor may deliver.
//!
//! Constant channels are dropped (see [`Standardiser`] for the floor), so nothing is ever divided by almost zero. A
//! standardised value is held within ±[`LIMIT`], and one that is not a number counts as −[`LIMIT`]: a monitor must go
//! on scoring when a sensor fails, its scores must stay finite, and such a value is far from everything nominal.
//!
//! The released code of Anomaly-Gym keeps constant channels: it divides by the deviation plus [`ADDED`], so a channel that
//! never varied is magnified a million times once it does. [`Constant::Kept`] does the same, to measure what that earns.

use super::saved::indices;
use offnominal_core::archive::{ArchiveError, Reader, Writer};
use offnominal_core::detector::Signals;
use offnominal_nets::Standardiser;

/// The largest standardised magnitude; its square, summed over channels, is far from the end of `f32`.
pub(crate) const LIMIT: f32 = 1e6;

/// What the released code of Anomaly-Gym adds to each deviation.
const ADDED: f64 = 1e-6;

/// What becomes of channels that were constant in training.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Constant {
    /// No detector sees them.
    Dropped,
    /// They have a deviation of [`ADDED`].
    Kept,
}

impl Constant {
    /// By the parameter of a recipe.
    pub fn kept_if(keep: bool) -> Constant {
        if keep { Constant::Kept } else { Constant::Dropped }
    }
}

/// Which channels are seen, and by how much they vary.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Scale(Standardiser);

impl Scale {
    /// Fits the observations of all episodes, and standardises them: `[n_observations(train), width]`.
    pub fn of_observations(train: &[Signals<'_>], constant: Constant) -> (Scale, Vec<f32>) {
        let obs_width = train[0].obs_width();
        let rows = train.iter().flat_map(|e| e.observations()).copied().collect::<Vec<f32>>();
        let scale = match constant {
            Constant::Dropped => Scale::of_rows(&rows, obs_width),
            Constant::Kept => Scale::with_constant(&rows, obs_width),
        };
        let mut points = vec![0.0; scale.width() * n_observations(train)];
        for (row, z) in rows.chunks_exact(obs_width).zip(points.chunks_exact_mut(scale.width().max(1))) {
            scale.apply(row, z);
        }
        (scale, points)
    }

    /// Fits rows of `width` numbers.
    pub fn of_rows(rows: &[f32], width: usize) -> Scale {
        Scale(Standardiser::fit(rows, width))
    }

    /// The same, with channels that are constant: all deviations have [`ADDED`] added to them.
    fn with_constant(rows: &[f32], width: usize) -> Scale {
        let varying = Standardiser::fit(rows, width);
        let n = (rows.len() / width) as f64;
        let mean_of = |c: usize| rows.iter().skip(c).step_by(width).map(|&x| f64::from(x)).sum::<f64>() / n;
        let moments = (0..width).map(|c| match varying.varying().binary_search(&c) {
            Ok(at) => (varying.mean()[at], (f64::from(varying.scale()[at]) + ADDED) as f32),
            Err(_) => (mean_of(c) as f32, ADDED as f32),
        });
        let (mean, deviation) = moments.unzip();
        let all = Standardiser::from_parts(width, (0..width).collect(), mean, deviation);
        Scale(all.expect("each channel has a finite mean and a deviation above zero"))
    }

    /// Whether a channel of a scale that keeps them was constant in training.
    pub fn was_constant(&self, kept: usize) -> bool {
        self.deviations()[kept] <= ADDED as f32
    }

    /// Fits the actions of all episodes.
    pub fn of_actions(train: &[Signals<'_>]) -> Scale {
        let rows = train.iter().flat_map(|e| e.actions()).copied().collect::<Vec<f32>>();
        Scale(Standardiser::fit(&rows, train[0].act_width()))
    }

    /// Writes the units.
    pub fn save(&self, to: &mut Writer<'_>) {
        to.put("channels", &self.0.varying().iter().map(|&c| c as u64).collect::<Vec<_>>());
        to.put("mean", self.0.mean());
        to.put("deviation", self.0.scale());
    }

    /// Reads the units of rows of `width` numbers.
    pub fn load(from: &Reader<'_>, width: usize) -> Result<Scale, ArchiveError> {
        let kept = indices(from, "channels", width)?;
        let (mean, scale) = (from.list("mean")?.to_vec(), from.list("deviation")?.to_vec());
        let made = Standardiser::from_parts(width, kept, mean, scale);
        from.require(made.is_ok(), "channels", made.as_ref().err().unwrap_or(&""), "others")?;
        Ok(Scale(made.expect("it was checked")))
    }

    /// Number of channels that are kept.
    pub fn width(&self) -> usize {
        self.0.outputs()
    }

    /// The channels that are kept.
    pub fn varying(&self) -> &[usize] {
        self.0.varying()
    }

    /// Standard deviation of each kept channel.
    pub fn deviations(&self) -> &[f32] {
        self.0.scale()
    }

    /// Writes the standardised kept channels of `row`.
    pub fn apply(&self, row: &[f32], z: &mut [f32]) {
        self.0.apply(row, z);
        z.iter_mut().for_each(|z| *z = limit(*z));
    }

    /// The same within ±`most`, for a network, whose input has at least one number.
    pub fn apply_clipped(&self, row: &[f32], x: &mut [f32], most: f32) {
        self.apply(row, &mut x[..self.width()]);
        x.iter_mut().for_each(|x| *x = x.clamp(-most, most));
    }

    /// The kept channels of `row`, as they are.
    pub fn select<'a>(&'a self, row: &'a [f32]) -> impl Iterator<Item = f32> + 'a {
        self.0.varying().iter().map(|&channel| row[channel])
    }
}

/// Number of observations in all episodes: one more than steps in each.
pub(crate) fn n_observations(train: &[Signals<'_>]) -> usize {
    train.iter().map(|e| e.len() + 1).sum()
}

/// Holds a standardised value within ±[`LIMIT`]; not a number becomes −[`LIMIT`].
pub(crate) fn limit(z: f32) -> f32 {
    if z.is_nan() { -LIMIT } else { z.clamp(-LIMIT, LIMIT) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(observations: [f32; 4], row: [f32; 2], want: &[f32]) {
        let train = [Signals::new(&observations, &[0.0], 2, 1)];
        let (scale, _) = Scale::of_observations(&train, Constant::Dropped);
        let mut z = vec![0.0; scale.width()];
        scale.apply(&row, &mut z);
        assert_eq!(z, want);
    }

    #[test]
    fn two_points_are_one_deviation_from_their_mean() {
        check([1.0, 10.0, 3.0, 30.0], [1.0, 30.0], &[-1.0, 1.0]);
        check([1.0, 10.0, 3.0, 30.0], [4.0, 20.0], &[2.0, 0.0]);
    }

    #[test]
    fn constant_channels_are_dropped() {
        check([1.0, 7.0, 3.0, 7.0], [1.0, 99.0], &[-1.0]);
        check([7.0, 7.0, 7.0, 7.0], [1.0, 99.0], &[]);
    }

    #[test]
    fn kept_constant_channels_are_magnified_a_million_times() {
        let train = [Signals::new(&[1.0, 7.0, 3.0, 7.0], &[0.0], 2, 1)];
        let (scale, points) = Scale::of_observations(&train, Constant::Kept);
        assert_eq!(
            (scale.varying(), scale.was_constant(0), scale.was_constant(1)),
            (&[0, 1][..], false, true)
        );
        assert!((points[0] + 1.0).abs() < 2e-6 && points[1] == 0.0, "{points:?}");
        let mut z = [0.0; 2];
        scale.apply(&[2.0, 7.25], &mut z);
        assert!(z[0] == 0.0 && (z[1] - 250_000.0).abs() < 1.0, "{z:?}");
    }

    #[test]
    fn broken_sensors_are_far_away_but_finite() {
        let nominal = [-1.0, -1.0, 1.0, 1.0];
        check(nominal, [f32::NAN, f32::INFINITY], &[-LIMIT, LIMIT]);
        check(nominal, [f32::NEG_INFINITY, f32::MAX], &[-LIMIT, LIMIT]);
    }
}
