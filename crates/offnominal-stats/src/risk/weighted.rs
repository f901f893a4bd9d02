//! Experiments with importance weights, and the mean of weight times failure.

/// One experiment: its weight p(x) / q(x), and whether it failed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Weighted {
    /// How many plain draws it stands for.
    pub weight: f64,
    /// Whether it ended in failure.
    pub failed: bool,
}

impl Weighted {
    /// The weight if it failed, else zero.
    pub fn term(&self) -> f64 {
        if self.failed { self.weight } else { 0.0 }
    }
}

/// Mean of the terms over `n` draws and its standard error; draws without an experiment count as zero.
pub(super) fn mean(sample: &[Weighted], n: usize, of: impl Fn(&Weighted) -> f64) -> (f64, f64) {
    let (sum, squares) = sample.iter().map(of).fold((0.0, 0.0), |(s, q), x| (s + x, q + x * x));
    let mean = sum / n as f64;
    let variance = (squares / n as f64 - mean * mean).max(0.0);
    (mean, (variance / (n.max(2) - 1) as f64).sqrt())
}
