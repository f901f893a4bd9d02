//! How far the rows of a table of predictions lie apart: deviations, votes, information.

/// Predictions, one row each.
#[derive(Clone, Copy)]
pub(crate) struct Table<'a> {
    /// `[predictions, width]`.
    pub values: &'a [f32],
    /// Actions.
    pub width: usize,
}

impl Table<'_> {
    fn column(&self, action: usize) -> impl Iterator<Item = f64> {
        self.values.iter().skip(action).step_by(self.width).map(|&v| f64::from(v))
    }

    fn n(&self) -> f64 {
        (self.values.len() / self.width) as f64
    }

    fn mean(&self, action: usize) -> f64 {
        self.column(action).sum::<f64>() / self.n()
    }

    /// Sample standard deviation over the predictions.
    pub fn sd(&self, action: usize) -> f64 {
        let mean = self.mean(action);
        let squares = self.column(action).map(|q| (q - mean).powi(2)).sum::<f64>();
        (squares / (self.n() - 1.0)).sqrt()
    }

    /// Mean of the deviations.
    pub fn mean_sd(&self) -> f64 {
        (0..self.width).map(|a| self.sd(a)).sum::<f64>() / self.width as f64
    }

    /// Mean over actions of the deviation of the numbers less their mean over the actions of the same prediction.
    pub fn centred_sd(&self) -> f64 {
        let centre = |row: &[f32]| row.iter().map(|&q| f64::from(q)).sum::<f64>() / self.width as f64;
        let centred = |a: usize| {
            let all = || self.values.chunks_exact(self.width).map(|row| f64::from(row[a]) - centre(row));
            let mean = all().sum::<f64>() / self.n();
            (all().map(|q| (q - mean).powi(2)).sum::<f64>() / (self.n() - 1.0)).sqrt()
        };
        (0..self.width).map(centred).sum::<f64>() / self.width as f64
    }

    /// Mean over actions of the deviation in units of the mean.
    pub fn relative_sd(&self) -> f64 {
        let relative = |a| self.sd(a) / (self.mean(a).abs() + 1e-6);
        (0..self.width).map(relative).sum::<f64>() / self.width as f64
    }

    /// Deviation of the largest number of each prediction.
    pub fn best_sd(&self) -> f64 {
        let best = |row: &[f32]| f64::from(row.iter().copied().fold(f32::NEG_INFINITY, f32::max));
        let of = |rows: &dyn Fn(f64) -> f64| {
            self.values.chunks_exact(self.width).map(|r| rows(best(r))).sum::<f64>()
        };
        let mean = of(&|q| q) / self.n();
        (of(&|q| (q - mean).powi(2)) / (self.n() - 1.0)).sqrt()
    }

    /// The action of the largest mean, the first of equals.
    pub fn preferred(&self) -> usize {
        (1..self.width).fold(0, |best, a| if self.mean(a) > self.mean(best) { a } else { best })
    }
}

/// −p ln p, and its limit at zero.
pub(crate) fn surprisal(p: f64) -> f64 {
    if p > 0.0 { -p * p.ln() } else { 0.0 }
}

/// Entropy of the votes; each vote is the index of a choice.
pub(crate) fn vote_entropy(votes: &[f32], choices: usize) -> f64 {
    let share = |k| votes.iter().filter(|&&v| v as usize == k).count() as f64 / votes.len() as f64;
    (0..choices).map(|k| surprisal(share(k))).sum()
}

/// Entropy of the mean softmax, and by how much it exceeds the mean of the entropies; `mean` is scratch.
pub(crate) fn information(heads: Table<'_>, mean: &mut [f64]) -> (f64, f64) {
    mean.fill(0.0);
    let mut inner = 0.0;
    for row in heads.values.chunks_exact(heads.width) {
        let top = row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let weight = |q: f32| f64::from(q - top).exp();
        let total: f64 = row.iter().map(|&q| weight(q)).sum();
        for (mean, &q) in mean.iter_mut().zip(row) {
            let p = weight(q) / total;
            *mean += p / heads.n();
            inner += surprisal(p) / heads.n();
        }
    }
    let outer = mean.iter().map(|&p| surprisal(p)).sum::<f64>();
    (outer, (outer - inner).max(0.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three predictions of two values.
    const TABLE: Table<'_> = Table { values: &[1.0, 5.0, 2.0, 5.0, 3.0, 2.0], width: 2 };

    fn near(found: f64, want: f64) {
        assert!((found - want).abs() < 1e-12, "expected {want}, found {found}");
    }

    #[test]
    fn deviations_are_those_of_a_sample() {
        near(TABLE.sd(0), 1.0);
        near(TABLE.sd(1), 3.0_f64.sqrt());
        near(TABLE.mean_sd(), (1.0 + 3.0_f64.sqrt()) / 2.0);
        assert_eq!(TABLE.preferred(), 1);
    }

    #[test]
    fn votes_and_information_in_closed_form() {
        near(vote_entropy(&[1.0, 1.0, 0.0, 0.0], 3), 2.0_f64.ln());
        near(vote_entropy(&[1.0; 4], 3), 0.0);
        let mut scratch = vec![0.0; 2];
        // Two sure predictions that contradict one another: one bit.
        let sure = Table { values: &[0.0, 900.0, 900.0, 0.0], width: 2 };
        near(information(sure, &mut scratch).1, 2.0_f64.ln());
        // Two that are equally unsure: none.
        near(information(Table { values: &[3.0, 3.0, 4.0, 4.0], width: 2 }, &mut scratch).1, 0.0);
        // p = (3/4, 1/4) and (1/4, 3/4).
        let l = 3.0_f32.ln();
        let unsure = Table { values: &[l, 0.0, 0.0, l], width: 2 };
        let want = 2.0_f64.ln() - surprisal(0.75) - surprisal(0.25);
        assert!((information(unsure, &mut scratch).1 - want).abs() < 1e-7);
    }
}
