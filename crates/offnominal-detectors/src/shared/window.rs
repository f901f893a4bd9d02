//! The last residuals, and what they look like together.

/// A residual of so many deviations says no more than one of this many: one outlier must not hide all else.
const MOST: f64 = 30.0;

/// The last W residuals of d channels, each divided by its nominal deviation.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Window {
    deviations: Vec<f64>,
    /// `[W, d]`, overwritten in turn.
    ring: Vec<f64>,
    size: usize,
    /// Residuals added since `reset`.
    n: usize,
}

impl Window {
    pub fn new(size: usize, deviations: Vec<f64>) -> Window {
        Window { ring: vec![0.0; size * deviations.len()], deviations, size, n: 0 }
    }

    /// Nominal deviation of each channel.
    pub fn deviations(&self) -> &[f64] {
        &self.deviations
    }

    pub fn reset(&mut self) {
        self.n = 0;
    }

    pub fn add(&mut self, z: &[f64]) {
        let d = self.deviations.len();
        let row = &mut self.ring[self.n % self.size * d..][..d];
        for ((w, z), deviation) in row.iter_mut().zip(z).zip(&self.deviations) {
            *w = (z / deviation).clamp(-MOST, MOST);
        }
        self.n += 1;
    }

    /// Writes √n times the means of w, of w² − 1 and of the products of neighbours, `[3, d]`.
    ///
    /// Summed anew each time, so that no rounding outlives the window.
    pub fn statistics(&self, s: &mut [f64]) {
        let (d, filled) = (self.deviations.len(), self.n.min(self.size));
        s.fill(0.0);
        for age in 0..filled {
            let row = self.row(age);
            let older = (age + 1 < filled).then(|| self.row(age + 1));
            for j in 0..d {
                s[j] += row[j];
                s[d + j] += row[j] * row[j] - 1.0;
                s[2 * d + j] += older.map_or(0.0, |older| row[j] * older[j]);
            }
        }
        let scale = 1.0 / (filled.max(1) as f64).sqrt();
        s.iter_mut().for_each(|s| *s *= scale);
    }

    /// The residual added so many steps before the last.
    fn row(&self, age: usize) -> &[f64] {
        let d = self.deviations.len();
        &self.ring[(self.n - 1 - age) % self.size * d..][..d]
    }
}

/// The statistics after each step of each episode, rows of 3d numbers.
pub(crate) fn statistics_of(episodes: &[Vec<f64>], window: &mut Window) -> Vec<f64> {
    let d = window.deviations.len();
    let (mut rows, mut s) = (Vec::new(), vec![0.0; 3 * d]);
    for episode in episodes {
        window.reset();
        for z in episode.chunks_exact(d) {
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
    fn a_reset_window_is_empty() {
        let mut window = Window::new(3, vec![1.0, 1.0]);
        let rows = statistics_of(&[vec![1.0, 2.0, 3.0, 4.0], vec![1.0, 2.0]], &mut window);
        assert_eq!(rows[..6], rows[12..]);
        assert_eq!(window.n, 0);
    }
}
