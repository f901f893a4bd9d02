//! The last residuals, and what they look like together.

use super::whiten::Whitener;
use offnominal_core::archive::{ArchiveError, Reader, Writer};
use std::ops::Range;

/// A residual of so many deviations says no more than one of this many: one outlier must not hide all else.
const MOST: f64 = 30.0;

/// The last W residuals of d channels, each divided by its nominal deviation.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Window {
    deviations: Vec<f64>,
    /// `[W, d]`, overwritten in turn.
    ring: Vec<f64>,
    /// Variance of each that was left out because something was not read, `[W, d]`.
    left_out: Vec<f64>,
    size: usize,
    /// Residuals added since `reset`.
    n: usize,
}

impl Window {
    pub fn new(size: usize, deviations: Vec<f64>) -> Window {
        let [ring, left_out] = [(); 2].map(|()| vec![0.0; size * deviations.len()]);
        Window { ring, left_out, deviations, size, n: 0 }
    }

    pub fn reset(&mut self) {
        self.n = 0;
    }

    pub fn add(&mut self, z: &[f64]) {
        let row = self.next();
        for ((w, z), deviation) in self.ring[row.clone()].iter_mut().zip(z).zip(&self.deviations) {
            *w = (z / deviation).clamp(-MOST, MOST);
        }
        self.left_out[row].fill(0.0);
        self.n += 1;
    }

    /// Adds conditional means, with the variances that they lack.
    pub fn add_partial(&mut self, z: &[f64], variances: &[f64]) {
        let row = self.next();
        self.add(z);
        for ((v, variance), deviation) in self.left_out[row].iter_mut().zip(variances).zip(&self.deviations) {
            *v = variance / (deviation * deviation);
        }
    }

    /// Whether at least half of it is filled.
    pub fn is_half_full(&self) -> bool {
        2 * self.n >= self.size
    }

    /// Where the next residual lies.
    fn next(&self) -> Range<usize> {
        let d = self.deviations.len();
        let from = self.n % self.size * d;
        from..from + d
    }

    /// Writes √n times the means of w, of w² − 1 and of the products of neighbours, `[3, d]`.
    ///
    /// Summed anew each time, so that no rounding outlives the window.
    pub fn statistics(&self, s: &mut [f64]) {
        let (d, filled) = (self.deviations.len(), self.n.min(self.size));
        s.fill(0.0);
        for age in 0..filled {
            let row = &self.ring[self.place(age)];
            let left_out = &self.left_out[self.place(age)];
            let older = (age + 1 < filled).then(|| &self.ring[self.place(age + 1)]);
            for j in 0..d {
                s[j] += row[j];
                s[d + j] += row[j] * row[j] - 1.0 + left_out[j];
                s[2 * d + j] += older.map_or(0.0, |older| row[j] * older[j]);
            }
        }
        let scale = 1.0 / (filled.max(1) as f64).sqrt();
        s.iter_mut().for_each(|s| *s *= scale);
    }

    /// Writes the squares of what is in it, summed over steps.
    pub fn squares(&self, out: &mut [f64]) {
        out.fill(0.0);
        for age in 0..self.n.min(self.size) {
            let row = &self.ring[self.place(age)];
            out.iter_mut().zip(row).for_each(|(sum, w)| *sum += w * w);
        }
    }

    /// Where the residual lies that was added so many steps before the last.
    fn place(&self, age: usize) -> Range<usize> {
        let d = self.deviations.len();
        let from = (self.n - 1 - age) % self.size * d;
        from..from + d
    }
}

/// Mean and covariance of the statistics of nominal windows.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct NominalWindow {
    center: Vec<f64>,
    whitener: Whitener,
}

impl NominalWindow {
    /// Measures the windows of held-out residuals of nominal episodes, each `[T, d]`.
    pub fn fit(episodes: &[Vec<f64>], window: &mut Window) -> NominalWindow {
        let width = 3 * window.deviations.len();
        let mut rows = statistics_of(episodes, window);
        let n = (rows.len() / width.max(1)).max(1) as f64;
        let mean = |j: usize| rows.iter().skip(j).step_by(width).sum::<f64>() / n;
        let center: Vec<f64> = (0..width).map(mean).collect();
        rows.chunks_exact_mut(width.max(1)).for_each(|row| subtract(row, &center));
        let whitener = Whitener::fit(rows.chunks_exact(width.max(1)), width);
        NominalWindow { center, whitener }
    }

    /// Writes the moments.
    pub fn save(&self, to: &mut Writer<'_>) {
        to.put("center", &self.center);
        self.whitener.save(to);
    }

    /// Reads the moments of windows of d channels.
    pub fn load(from: &Reader<'_>, d: usize) -> Result<NominalWindow, ArchiveError> {
        let center = from.exactly("center", 3 * d)?.to_vec();
        Ok(NominalWindow { center, whitener: Whitener::load(from, 3 * d)? })
    }

    /// Writes what each channel contributes to the score, by its three statistics. `s` and `of_s` are scratch, `[3, d]`.
    pub fn contributions(&self, window: &Window, s: &mut [f64], of_s: &mut [f64], out: &mut [f64]) {
        window.statistics(s);
        subtract(s, &self.center);
        self.whitener.contributions(s, of_s);
        out.fill(0.0);
        of_s.chunks_exact(out.len()).for_each(|row| out.iter_mut().zip(row).for_each(|(sum, x)| *sum += x));
    }

    /// The squared distance of what is in a window from the mean, one on average over nominal windows. `s` is scratch,
    /// `[3, d]`.
    pub fn score(&self, window: &Window, s: &mut [f64]) -> f64 {
        window.statistics(s);
        subtract(s, &self.center);
        self.whitener.mean_square(s)
    }
}

fn subtract(row: &mut [f64], center: &[f64]) {
    row.iter_mut().zip(center).for_each(|(s, c)| *s -= c);
}

/// The statistics after each step of each episode, rows of 3d numbers.
fn statistics_of(episodes: &[Vec<f64>], window: &mut Window) -> Vec<f64> {
    let d = window.deviations.len();
    let (mut rows, mut s) = (Vec::new(), vec![0.0; 3 * d]);
    for episode in episodes {
        window.reset();
        for z in episode.chunks_exact(d.max(1)) {
            window.add(z);
            window.statistics(&mut s);
            rows.extend_from_slice(&s);
        }
    }
    window.reset();
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_alternating_sequence_has_no_mean_unit_variance_and_a_negative_memory() {
        let mut window = Window::new(4, vec![2.0]);
        let mut s = [f64::NAN; 3];
        for z in [90.0, 2.0, -2.0, 2.0, -2.0] {
            window.add(&[z]);
        }
        window.statistics(&mut s);
        assert_eq!(s, [0.0, 0.0, -1.5], "three products of −1 over √4; the first residual has left");
    }

    #[test]
    fn a_residual_that_was_left_out_counts_as_an_average_one() {
        let mut window = Window::new(2, vec![2.0]);
        let mut s = [f64::NAN; 3];
        window.add_partial(&[0.0], &[4.0]);
        window.statistics(&mut s);
        assert_eq!(s, [0.0; 3], "neither its mean nor its square says anything");
        for z in [2.0, 4.0] {
            window.add(&[z]);
        }
        window.statistics(&mut s);
        assert_eq!(s[1], 3.0 / 2.0_f64.sqrt(), "what was left out has left the window");
    }

    #[test]
    fn a_reset_window_is_empty() {
        let mut window = Window::new(3, vec![1.0, 1.0]);
        let rows = statistics_of(&[vec![1.0, 2.0, 3.0, 4.0], vec![1.0, 2.0]], &mut window);
        assert_eq!(rows[..6], rows[12..]);
        assert_eq!(window.n, 0);
    }
}
