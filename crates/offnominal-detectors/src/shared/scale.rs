//! Standardisation, fitted on nominal data: z = (x − mean) / sd, per channel.
//!
//! A channel whose standard deviation is at most [`FLOOR`] · max(1, largest magnitude) is constant up to the rounding
//! of `f32`, carries no information and is dropped: nothing is ever divided by almost zero, so no detector wins by
//! amplifying a channel that never moved.
//!
//! A standardised value is held within ±[`LIMIT`], and one that is not a number counts as −[`LIMIT`]: a monitor must
//! go on scoring when a sensor fails, its scores must stay finite, and such a value is far from everything nominal.

use offnominal_core::detector::Signals;

/// Channels that vary by no more than this part of their magnitude (at least 1) are constant.
pub(crate) const FLOOR: f64 = 1e-6;

/// The largest standardised magnitude; its square, summed over channels, is far from the end of `f32`.
pub(crate) const LIMIT: f32 = 1e6;

/// Which channels vary, and by how much.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Scale {
    kept: Vec<Kept>,
}

/// One channel that varies.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Kept {
    channel: usize,
    mean: f64,
    sd: f64,
}

impl Scale {
    /// Learns mean and standard deviation of each column of rows of `width` numbers.
    pub fn fit<'a>(width: usize, rows: impl Iterator<Item = &'a [f32]> + Clone) -> Scale {
        let columns = (0..width).map(|channel| {
            let moments = Moments::of(rows.clone().map(|row| f64::from(row[channel])));
            (channel, moments)
        });
        let kept =
            columns.filter(|(_, m)| m.varies()).map(|(channel, m)| Kept { channel, mean: m.mean, sd: m.sd });
        Scale { kept: kept.collect() }
    }

    /// Fits the observations of all episodes, and standardises them: `[n_observations(train), width]`.
    pub fn of_observations(train: &[Signals<'_>]) -> (Scale, Vec<f32>) {
        let obs_width = train[0].obs_width();
        let rows = train.iter().flat_map(|e| e.observations().chunks_exact(obs_width));
        let scale = Scale::fit(obs_width, rows.clone());
        let mut points = vec![0.0; scale.width() * n_observations(train)];
        for (row, z) in rows.zip(points.chunks_exact_mut(scale.width().max(1))) {
            scale.apply(row, z);
        }
        (scale, points)
    }

    /// Fits the commands of all episodes.
    pub fn of_actions(train: &[Signals<'_>]) -> Scale {
        let act_width = train[0].act_width();
        Scale::fit(act_width, train.iter().flat_map(|e| e.actions().chunks_exact(act_width)))
    }

    /// Number of channels that are kept.
    pub fn width(&self) -> usize {
        self.kept.len()
    }

    /// Position in the full row, and standard deviation, of each kept channel.
    pub fn kept(&self) -> impl ExactSizeIterator<Item = (usize, f64)> + '_ {
        self.kept.iter().map(|k| (k.channel, k.sd))
    }

    /// Writes the standardised kept channels of `row`.
    pub fn apply(&self, row: &[f32], z: &mut [f32]) {
        debug_assert_eq!(z.len(), self.kept.len());
        for (out, k) in z.iter_mut().zip(&self.kept) {
            *out = limit((f64::from(row[k.channel]) - k.mean) / k.sd);
        }
    }

    /// Writes the kept channels of `row` as they are.
    pub fn select<'a>(&'a self, row: &'a [f32]) -> impl Iterator<Item = f32> + 'a {
        self.kept.iter().map(|k| row[k.channel])
    }
}

/// Number of observations in all episodes: one more than steps in each.
pub(crate) fn n_observations(train: &[Signals<'_>]) -> usize {
    train.iter().map(|e| e.len() + 1).sum()
}

/// Holds a standardised value within ±[`LIMIT`]; not a number becomes −[`LIMIT`].
pub(crate) fn limit(z: f64) -> f32 {
    if z.is_nan() { -LIMIT } else { (z as f32).clamp(-LIMIT, LIMIT) }
}

/// Mean, standard deviation and largest magnitude of a column.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Moments {
    pub mean: f64,
    pub sd: f64,
    largest: f64,
}

impl Moments {
    /// Two passes, because a small spread about a large mean is lost in one.
    pub fn of(values: impl Iterator<Item = f64> + Clone) -> Moments {
        let (mut n, mut sum, mut largest) = (0.0, 0.0, 0.0_f64);
        for v in values.clone() {
            (n, sum, largest) = (n + 1.0, sum + v, largest.max(v.abs()));
        }
        let mean = sum / f64::max(n, 1.0);
        let squares: f64 = values.map(|v| (v - mean) * (v - mean)).sum();
        Moments { mean, sd: (squares / f64::max(n, 1.0)).sqrt(), largest }
    }

    fn varies(&self) -> bool {
        self.sd > FLOOR * self.largest.max(1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fitted(rows: &[[f32; 2]]) -> Scale {
        Scale::fit(2, rows.iter().map(|r| r.as_slice()))
    }

    #[track_caller]
    fn check(scale: &Scale, row: [f32; 2], want: &[f32]) {
        let mut z = vec![0.0; scale.width()];
        scale.apply(&row, &mut z);
        assert_eq!(z, want);
    }

    #[test]
    fn two_points_are_one_deviation_from_their_mean() {
        let scale = fitted(&[[1.0, 10.0], [3.0, 30.0]]);
        check(&scale, [1.0, 30.0], &[-1.0, 1.0]);
        check(&scale, [4.0, 20.0], &[2.0, 0.0]);
    }

    #[test]
    fn constant_channels_are_dropped_also_when_they_tremble_in_the_last_bit() {
        let next = f32::from_bits(1000.0_f32.to_bits() + 1);
        for (a, b) in [(0.0, 0.0), (7.0, 7.0), (1000.0, next), (0.0, 1e-9)] {
            assert_eq!(fitted(&[[0.0, a], [1.0, b]]).width(), 1, "{a} {b}");
        }
        assert_eq!(fitted(&[[0.0, 0.0], [1.0, 1e-3]]).width(), 2);
    }

    #[test]
    fn broken_sensors_are_far_away_but_finite() {
        let scale = fitted(&[[-1.0, -1.0], [1.0, 1.0]]);
        check(&scale, [f32::NAN, f32::INFINITY], &[-LIMIT, LIMIT]);
        check(&scale, [f32::NEG_INFINITY, f32::MAX], &[-LIMIT, LIMIT]);
    }
}
