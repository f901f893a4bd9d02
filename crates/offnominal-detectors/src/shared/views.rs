//! Six ways to look at a stream of residuals, on one scale.
//!
//! With z the residuals, g their normal scores, and C the nominal second moments of either:
//!
//! | view    | value, of which the logarithm is taken                                            | sees best                    |
//! |---------|-----------------------------------------------------------------------------------|------------------------------|
//! | length  | ℓ = gᵀ C⁻¹ g / d                                                                  | a jump in many channels      |
//! | channel | max_j g_j² / C_jj                                                                 | a fault of one channel       |
//! | drift   | ‖m‖² in the covariance of m, m ← (1 − [`RATE`]) m + [`RATE`] g                    | a bias too small for a step  |
//! | sum     | S ← max(0, S − [`ALLOWANCE`]) + min(−ln p, [`LIMIT`]), p the p-value of zᵀ C⁻¹ z   | what came, and left a mark   |
//! | windows | mean, variance and memory of the last 8 and 32 scores, see [`super::window`]      | anything that stays          |
//!
//! A view is put on a scale on which nominal data have median 0 and 90th percentile 1; the largest view counts. A window
//! counts as soon as it is half full. Everything nominal is measured on held-out residuals. Where something was not read,
//! the sum takes the p-value of ℓ, which is one on nominal data as well.

use super::marginal::Marginal;
use super::normal_scores::NormalScores;
use super::self_information::{LIMIT, SelfInformation, thinned};
use super::whiten::Whitener;
use super::window::{NominalWindow, Window};
use offnominal_core::archive::{ArchiveError, Reader, Writer};

/// Weight of a step in the drift.
const RATE: f64 = 0.3;
/// Taken off the sum of self-information at each step.
const ALLOWANCE: f64 = 1.5;
/// Steps of the windows.
const WINDOWS: [usize; 2] = [8, 32];
/// Added before the logarithm, so that a perfect prediction is finite.
const QUIET: f64 = 1e-3;
/// Smallest distance between median and percentile.
const LEAST_SPREAD: f64 = 1e-3;
/// What self-information are kept of.
const LENGTHS_OF: [&str; 2] = ["residuals", "scores"];
/// Number of views.
const N: usize = 6;
/// What they are called where one spoke, in their order.
const CALLED: [&str; N] = [
    "residual",
    "residual",
    "exponentially weighted mean residual",
    "cumulative sum of the residuals",
    "windowed residuals (8 steps)",
    "windowed residuals (32 steps)",
];
/// Which is which; those after them are windows.
const LENGTH: usize = 0;
const CHANNEL: usize = 1;
const DRIFT: usize = 2;
const SUM: usize = 3;

/// What is known of nominal residuals.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Views {
    /// Of residuals as they are.
    residuals: Whitener,
    scores: NormalScores,
    /// Of normal scores, as the rest.
    length: Whitener,
    drift: Whitener,
    /// Of lengths of residuals, and of normal scores.
    self_information: [SelfInformation; 2],
    windows: [NominalWindow; WINDOWS.len()],
    /// Median and spread of each view.
    scales: [(f64, f64); N],
}

/// What is remembered of an episode.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Past {
    drift: Vec<f64>,
    sum: f64,
    windows: [Window; WINDOWS.len()],
    /// `[3, d]`.
    scratch: Vec<f64>,
    /// What is left out of the drift, and of the windows as variances.
    of_drift: Marginal,
    variances: Vec<f64>,
    /// The last score, and which view it is.
    last: (f64, usize),
    /// Scratch, `[3, d]`.
    of_window: Vec<f64>,
}

impl Past {
    pub fn reset(&mut self) {
        self.drift.fill(0.0);
        self.sum = 0.0;
        self.windows.iter_mut().for_each(Window::reset);
    }

    fn drift(&mut self, g: &[f64]) {
        advance(&mut self.drift, g);
    }
}

/// Takes a drift one step further.
fn advance(drift: &mut [f64], g: &[f64]) {
    drift.iter_mut().zip(g).for_each(|(m, g)| *m += RATE * (g - *m));
}

impl Views {
    /// Measures held-out residuals of nominal episodes, each `[T, d]`.
    pub fn fit(held_out: &[Vec<f64>], d: usize) -> Views {
        let rows = held_out.concat();
        let (residuals, scores) = (Whitener::fit(rows.chunks_exact(d), d), NormalScores::fit(&rows, d));
        let mut episodes = held_out.to_vec();
        episodes.iter_mut().flat_map(|e| e.chunks_exact_mut(d)).for_each(|g| scores.apply(g));
        let rows = episodes.concat();
        let length = Whitener::fit(rows.chunks_exact(d), d);
        let drifts: Vec<f64> = episodes.iter().flat_map(|e| drifts(e, d)).collect();
        let drift = Whitener::fit(drifts.chunks_exact(d), d);
        let self_information = |whitener: &Whitener, rows: &[f64]| {
            let lengths = rows.chunks_exact(d).map(|row| whitener.mean_square(&mut row.to_vec()));
            SelfInformation::of_nominal(thinned(lengths.collect()))
        };
        let self_information =
            [self_information(&residuals, &held_out.concat()), self_information(&length, &rows)];
        let windows = WINDOWS
            .map(|size| NominalWindow::fit(&episodes, &mut Window::new(size, length.deviations.clone())));
        let mut views =
            Views { residuals, scores, length, drift, self_information, windows, scales: [(0.0, 1.0); N] };
        let seen: Vec<[f64; N]> = held_out.iter().flat_map(|e| views.of_episode(e, d)).collect();
        for (view, scale) in views.scales.iter_mut().enumerate() {
            *scale = scale_of(seen.iter().map(|v| v[view]).filter(|v| v.is_finite()).collect());
        }
        views
    }

    /// Writes what is known.
    pub fn save(&self, to: &mut Writer<'_>) {
        self.residuals.save(&mut to.part("residuals"));
        self.scores.save(&mut to.part("scores"));
        self.length.save(&mut to.part("length"));
        self.drift.save(&mut to.part("drift"));
        for (of, self_information) in LENGTHS_OF.iter().zip(&self.self_information) {
            self_information.save(&mut to.part("surprise").part(of));
        }
        for (size, window) in WINDOWS.iter().zip(&self.windows) {
            window.save(&mut to.part("window").part(size));
        }
        to.put("median", &self.scales.map(|s| s.0));
        to.put("spread", &self.scales.map(|s| s.1));
    }

    /// Reads what is known of residuals of d channels.
    pub fn load(from: &Reader<'_>, d: usize) -> Result<Views, ArchiveError> {
        let whitener = |name: &str| Whitener::load(&from.part(name), d);
        let self_information = |of: &str| SelfInformation::load(&from.part("surprise").part(of));
        let window = |size: usize| NominalWindow::load(&from.part("window").part(size), d);
        let (medians, spreads) = (from.exactly::<f64>("median", N)?, from.exactly::<f64>("spread", N)?);
        from.require(spreads.iter().all(|&s| s > 0.0), "spread", "numbers above zero", "others")?;
        Ok(Views {
            residuals: whitener("residuals")?,
            scores: NormalScores::load(&from.part("scores"), d)?,
            length: whitener("length")?,
            drift: whitener("drift")?,
            self_information: [self_information(LENGTHS_OF[0])?, self_information(LENGTHS_OF[1])?],
            windows: [window(WINDOWS[0])?, window(WINDOWS[1])?],
            scales: std::array::from_fn(|view| (medians[view], spreads[view])),
        })
    }

    /// Nothing, for an episode that begins.
    pub fn past(&self) -> Past {
        let deviations = &self.length.deviations;
        let d = deviations.len();
        Past {
            drift: vec![0.0; d],
            sum: 0.0,
            windows: WINDOWS.map(|size| Window::new(size, deviations.clone())),
            scratch: vec![0.0; 3 * d],
            of_drift: Marginal::new(d),
            variances: vec![0.0; d],
            last: (0.0, LENGTH),
            of_window: vec![0.0; 3 * d],
        }
    }

    /// The covariance of residuals.
    pub fn of_residuals(&self) -> &Whitener {
        &self.residuals
    }

    /// What makes normal scores of residuals, and their covariance.
    pub fn of_scores(&self) -> (&NormalScores, &Whitener) {
        (&self.scores, &self.length)
    }

    /// The largest view of a step with the residual z, which becomes its normal scores.
    pub fn score(&self, z: &mut [f64], past: &mut Past) -> f64 {
        let views = self.raw(z, past);
        past.last = self.largest(views);
        past.last.0
    }

    /// The same of a residual of whose normal scores something is left out: channels become conditional means, the length
    /// is put on the scale of others, the drift takes what makes it shortest, and windows know the variance that they lack.
    pub fn score_partial(&self, z: &mut [f64], marginal: &mut Marginal, past: &mut Past) -> f64 {
        if marginal.is_empty() {
            return self.score(z, past);
        }
        self.scores.apply(z);
        marginal.leave_out(z, &self.length);
        let length = marginal.rescaled(length_of(z, &self.length, past));
        past.drift(z);
        past.of_drift.clear();
        past.of_drift.add_all(marginal, &self.drift);
        past.of_drift.leave_out(&mut past.drift, &self.drift);
        let drift = self.of_drift(past);
        let drift = past.of_drift.rescaled(drift);
        marginal.variances(&self.length, &mut past.variances);
        for window in &mut past.windows {
            window.add_partial(z, &past.variances);
        }
        past.last = self.largest(self.with(z, [length, drift, self.self_information[1].of(length)], past));
        past.last.0
    }

    /// The largest view on its scale, and which it is.
    fn largest(&self, raw: [f64; N]) -> (f64, usize) {
        let scaled = raw.iter().zip(&self.scales).map(|(v, (median, spread))| (v - median) / spread);
        let most = |most: (f64, usize), (view, v)| if v > most.0 { (v, view) } else { most };
        scaled.enumerate().fold((f64::NEG_INFINITY, 0), most)
    }

    /// Writes what each channel contributes to the view that was the largest in the last step, whose normal scores are g; returns
    /// the score. To the sum, whose past is no longer known channel by channel, as to the energy of the last steps.
    pub fn contributions(&self, g: &[f64], past: &mut Past, out: &mut [f64]) -> f64 {
        let Past { drift, windows, scratch, of_window, last: (score, view), .. } = past;
        match *view {
            LENGTH => self.length.contributions(g, out),
            CHANNEL => only_largest(g, &self.length.deviations, out),
            DRIFT => self.drift.contributions(drift, out),
            SUM => windows[WINDOWS.len() - 1].squares(out),
            window => {
                let window = window - (N - WINDOWS.len());
                self.windows[window].contributions(&windows[window], scratch, of_window, out);
            }
        }
        *score
    }

    /// The view that was the largest in the last step, in words.
    pub fn called(past: &Past) -> &'static str {
        CALLED[past.last.1]
    }

    /// The views of a residual, which becomes its normal scores.
    fn raw(&self, z: &mut [f64], past: &mut Past) -> [f64; N] {
        let self_information = self.self_information[0].of(length_of(z, &self.residuals, past));
        self.scores.apply(z);
        let length = length_of(z, &self.length, past);
        past.drift(z);
        let drift = self.of_drift(past);
        past.windows.iter_mut().for_each(|window| window.add(z));
        self.with(z, [length, drift, self_information], past)
    }

    fn of_drift(&self, past: &mut Past) -> f64 {
        let scratch = &mut past.scratch[..past.drift.len()];
        scratch.copy_from_slice(&past.drift);
        self.drift.mean_square(scratch)
    }

    /// All views; −∞ for a window that does not count yet.
    fn with(&self, g: &[f64], [length, drift, self_information]: [f64; 3], past: &mut Past) -> [f64; N] {
        let Past { sum, windows, scratch, .. } = past;
        let channels = g.iter().zip(&self.length.deviations);
        let channel = channels.map(|(g, deviation)| (g / deviation).powi(2)).fold(0.0, f64::max);
        *sum = (*sum - ALLOWANCE).max(0.0) + self_information.min(LIMIT);
        let mut window = |i: usize| {
            let counts = windows[i].is_half_full();
            if counts {
                libm::log(self.windows[i].score(&windows[i], scratch) + QUIET)
            } else {
                f64::NEG_INFINITY
            }
        };
        let [short, long] = [window(0), window(1)];
        let [length, channel, drift, sum] = [length, channel, drift, *sum].map(|v| libm::log(v + QUIET));
        [length, channel, drift, sum, short, long]
    }

    fn of_episode(&self, z: &[f64], d: usize) -> Vec<[f64; N]> {
        let (mut past, mut z) = (self.past(), z.to_vec());
        z.chunks_exact_mut(d).map(|z| self.raw(z, &mut past)).collect()
    }
}

/// One where the largest score in units of its deviation is, else zero.
fn only_largest(g: &[f64], deviations: &[f64], out: &mut [f64]) {
    let size = |j: usize| (g[j] / deviations[j]).abs();
    let largest = (0..g.len()).fold(0, |most, j| if size(j) > size(most) { j } else { most });
    out.fill(0.0);
    out[largest] = 1.0;
}

fn length_of(x: &[f64], whitener: &Whitener, past: &mut Past) -> f64 {
    let scratch = &mut past.scratch[..x.len()];
    scratch.copy_from_slice(x);
    whitener.mean_square(scratch)
}

/// The drift after each step of an episode.
fn drifts(g: &[f64], d: usize) -> Vec<f64> {
    let mut drift = vec![0.0; d];
    let after = |g: &[f64]| {
        advance(&mut drift, g);
        drift.clone()
    };
    g.chunks_exact(d).flat_map(after).collect()
}

/// Median, and distance from there to the 90th percentile. What never counted in nominal data counts for nothing.
fn scale_of(mut values: Vec<f64>) -> (f64, f64) {
    if values.is_empty() {
        return (f64::MAX, 1.0);
    }
    values.sort_unstable_by(f64::total_cmp);
    let at = |share: f64| values[((values.len() - 1) as f64 * share).round() as usize];
    (at(0.5), (at(0.9) - at(0.5)).max(LEAST_SPREAD))
}

#[cfg(test)]
mod tests {
    use super::*;
    use offnominal_core::Rng;

    /// 20 episodes of 100 steps of white noise in two channels.
    fn nominal(seed: u64) -> Vec<Vec<f64>> {
        let mut rng = Rng::new(seed);
        (0..20).map(|_| (0..200).map(|_| rng.normal()).collect()).collect()
    }

    fn mean_score(views: &Views, episodes: &[Vec<f64>], change: impl Fn(f64) -> f64) -> f64 {
        let mut sum = 0.0;
        for episode in episodes {
            let mut past = views.past();
            let mut z: Vec<f64> = episode.iter().map(|&z| change(z)).collect();
            sum += z.chunks_exact_mut(2).map(|z| views.score(z, &mut past)).sum::<f64>() / 100.0;
        }
        sum / episodes.len() as f64
    }

    #[test]
    fn a_bias_and_more_noise_raise_the_score_and_new_nominal_data_do_not() {
        let views = Views::fit(&nominal(1), 2);
        let as_fitted = mean_score(&views, &nominal(1), |z| z);
        let fresh = mean_score(&views, &nominal(2), |z| z);
        assert!((fresh - as_fitted).abs() < 0.1, "{fresh} {as_fitted}");
        for change in [&(|z: f64| z + 0.8) as &dyn Fn(f64) -> f64, &|z| 1.5 * z] {
            let changed = mean_score(&views, &nominal(2), change);
            assert!(changed > fresh + 0.5, "{changed} {fresh}");
        }
    }

    #[test]
    fn half_of_nominal_steps_are_below_zero_in_each_view() {
        let (episodes, views) = (nominal(3), Views::fit(&nominal(3), 2));
        for view in 0..N {
            let raw = episodes.iter().flat_map(|e| views.of_episode(e, 2));
            let counted: Vec<f64> = raw.map(|v| v[view]).filter(|v| v.is_finite()).collect();
            let below = counted.iter().filter(|&&v| v < views.scales[view].0).count();
            assert!(below.abs_diff(counted.len() / 2) <= 1, "{view}: {below} of {}", counted.len());
        }
    }

    #[test]
    fn a_fault_of_one_channel_is_the_part_of_that_channel_in_every_view() {
        let (views, mut out) = (Views::fit(&nominal(1), 2), [f64::NAN; 2]);
        let mut past = views.past();
        let mut z = [0.0; 2];
        for row in nominal(2)[0].chunks_exact(2) {
            z = [row[0], row[1] + 6.0];
            views.score(&mut z, &mut past);
        }
        for view in 0..N {
            past.last = (7.0, view);
            assert_eq!(views.contributions(&z, &mut past, &mut out), 7.0);
            assert!(out[1] > 5.0 * out[0] && out[0] >= 0.0, "{view}: {out:?}");
        }
    }

    #[test]
    fn a_window_that_was_never_half_full_counts_for_nothing() {
        let short: Vec<_> = nominal(4).into_iter().map(|e| e[..24].to_vec()).collect();
        let (views, shifted) =
            (Views::fit(&short, 2), nominal(5)[0].iter().map(|z| z + 3.0).collect::<Vec<_>>());
        let raw = views.of_episode(&shifted, 2);
        assert!(raw[50][5].is_finite() && views.largest(raw[50]).0.is_finite());
        let without = [raw[50][0], raw[50][1], raw[50][2], raw[50][3], raw[50][4], f64::NEG_INFINITY];
        assert_eq!(views.largest(raw[50]), views.largest(without));
    }
}
