//! The mean of the largest scores so far.

/// Share of the steps so far that counts.
const SHARE: f64 = 0.25;

/// How many of so many steps count.
fn n_counted(steps: usize) -> usize {
    ((SHARE * steps as f64).ceil() as usize).max(1)
}

/// The scores so far.
#[derive(Debug, Clone, Default)]
pub(super) struct Pool {
    /// In descending order, each with its step.
    sorted: Vec<(f64, usize)>,
}

impl Pool {
    /// The mean of the largest with one more.
    pub(super) fn push(&mut self, score: f64) -> f64 {
        let place = self.sorted.partition_point(|(other, _)| *other >= score);
        self.sorted.insert(place, (score, self.sorted.len()));
        let counted = self.counted();
        counted.iter().map(|(score, _)| score).sum::<f64>() / counted.len() as f64
    }

    fn counted(&self) -> &[(f64, usize)] {
        &self.sorted[..n_counted(self.sorted.len())]
    }
}

/// The derivatives by the score of each step, given those by the pooled score at each step.
pub(super) fn back(scores: &[f64], d_pooled: &[f64]) -> Vec<f64> {
    let (mut pool, mut d) = (Pool::default(), vec![0.0; scores.len()]);
    for (&score, d_pooled) in scores.iter().zip(d_pooled) {
        pool.push(score);
        let counted = pool.counted();
        counted.iter().for_each(|(_, step)| d[*step] += d_pooled / counted.len() as f64);
    }
    d
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_quarter_counts() {
        let mut pool = Pool::default();
        let found: Vec<f64> = [1.0, 3.0, 2.0, 0.0, 5.0, 4.0].into_iter().map(|s| pool.push(s)).collect();
        assert_eq!(found, [1.0, 3.0, 3.0, 3.0, 4.0, 4.5]);
    }

    #[test]
    fn derivatives_are_those_of_the_mean() {
        let (scores, d_pooled) = ([0.3, -1.0, 2.0, 0.5, 1.5], [1.0, -2.0, 0.5, 3.0, 1.0]);
        let value = |scores: &[f64]| {
            let mut pool = Pool::default();
            scores.iter().zip(d_pooled).map(|(&s, d)| d * pool.push(s)).sum::<f64>()
        };
        for (step, found) in back(&scores, &d_pooled).into_iter().enumerate() {
            let at = |h: f64| {
                let mut scores = scores;
                scores[step] += h;
                value(&scores)
            };
            let slope = (at(1e-6) - at(-1e-6)) / 2e-6;
            assert!((slope - found).abs() < 1e-6, "step {step}: {slope} and {found}");
        }
    }
}
