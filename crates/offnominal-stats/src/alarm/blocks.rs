//! A stream without episodes, block by block: evidence against "this block is like the nominal ones".
//!
//! The stream is cut into blocks of B steps. With n nominal blocks, whose largest scores are known, a block with the largest
//! score x has the rank r = 1 + #{nominal ≥ x} and the e-value
//!
//! e_r = f(r / (n + 1)) / mean_k f(k / (n + 1)), f(p) = (1 − p + p ln p) / (p ln² p),
//!
//! whose mean over equally likely ranks is 1. The statistic is ln M of the Shiryaev–Roberts recursion over blocks,
//!
//! M_t = (M_{t−1} + 1) e_t.
//!
//! While nominal blocks are exchangeable, M_t − t has a mean that does not grow, so M reaches L/B on average not before L/B
//! blocks, which are L steps. Within a block the largest score so far stands for that of the block: e grows with it, so an
//! alarm need not wait for the block's end.
//!
//! References: f, Vovk and Wang, Annals of Statistics 2021, equation 2 (the mixture of ε p^(ε − 1)); e-detectors, Shin,
//! Ramdas and Rinaldo, arXiv 2203.03532.

use super::realised;
use crate::Level;
use offnominal_core::Seed;
use offnominal_core::archive::{ArchiveError, Reader, Writer};
use offnominal_core::estimate::Estimate;

/// Draws from which the quantile for a promise with confidence is taken.
const DRAWS: usize = 20_000;

/// The largest scores of nominal blocks.
#[derive(Debug, Clone, PartialEq)]
pub struct Blocks {
    /// B.
    steps: usize,
    /// Ascending.
    maxima: Vec<f64>,
    /// ln e of each rank, the first that of a block that exceeds all.
    log_values: Vec<f64>,
}

impl Blocks {
    /// Of nominal blocks of so many steps, of which these are the largest scores; at least one.
    ///
    /// With a confidence, e-values are divided by what Σ_r e_r P(rank r) exceeds in one of 1/(1 − confidence) calibration sets: the
    /// probabilities of the ranks of a given set follow a Dirichlet law with all parameters 1.
    pub fn new(steps: usize, mut maxima: Vec<f64>, confidence: Option<f64>) -> Blocks {
        maxima.sort_unstable_by(f64::total_cmp);
        let n = maxima.len() as f64 + 1.0;
        let values: Vec<f64> = (1..=maxima.len() + 1).map(|r| e_value(r as f64 / n)).collect();
        let mean = values.iter().sum::<f64>() / n;
        let values: Vec<f64> = values.iter().map(|e| e / mean).collect();
        let largest = confidence.map_or(1.0, |confidence| quantile_of_mean(&values, confidence).max(1.0));
        let log_values = values.iter().map(|e| (e / largest).ln()).collect();
        Blocks { steps, maxima, log_values }
    }

    /// Steps of a block, B.
    pub fn steps(&self) -> usize {
        self.steps
    }

    /// Number of nominal blocks.
    pub fn n_blocks(&self) -> usize {
        self.maxima.len()
    }

    /// ln e of a block whose largest score is x.
    pub fn log_value(&self, largest: f64) -> f64 {
        let as_large = self.maxima.len() - self.maxima.partition_point(|&m| m < largest);
        self.log_values[as_large]
    }

    /// Alarms per nominal block, where one is raised by a statistic above so much, and the evidence then begins anew; with the
    /// interval over calibration sets. None if alarms are rarer than one in a thousand million blocks.
    pub fn alarms_per_block(&self, limit: f64, level: Level) -> Option<Estimate> {
        let values: Vec<f64> = self.log_values.iter().map(|v| v.exp()).collect();
        realised::alarms_per_block(&values, limit.exp(), level)
    }

    /// Writes what was learned.
    pub fn save(&self, to: &mut Writer<'_>) {
        to.put("block", &[self.steps as u64]);
        to.put("maxima", &self.maxima);
        to.put("log-values", &self.log_values);
    }

    /// Reads what was learned.
    ///
    /// # Errors
    /// If a list is missing or holds what cannot be.
    pub fn load(from: &Reader<'_>) -> Result<Blocks, ArchiveError> {
        let steps = from.one::<u64>("block")?;
        from.require(steps > 0, "block", "a number of steps above zero", "zero")?;
        let maxima = from.list::<f64>("maxima")?;
        from.require(!maxima.is_empty() && maxima.is_sorted(), "maxima", "ascending numbers", "others")?;
        let log_values = from.exactly::<f64>("log-values", maxima.len() + 1)?;
        let falls = log_values.is_sorted_by(|a, b| a >= b);
        from.require(falls, "log-values", "descending numbers", "others")?;
        Ok(Blocks { steps: steps as usize, maxima: maxima.to_vec(), log_values: log_values.to_vec() })
    }
}

/// f of the module's documentation.
fn e_value(p: f64) -> f64 {
    let x = -p.ln();
    // Where the quotient cancels, its series.
    if x < 1e-3 { 0.5 + x / 6.0 } else { (1.0 - p - p * x) / (p * x * x) }
}

/// The quantile of Σ w_r e_r over Dirichlet weights.
fn quantile_of_mean(values: &[f64], share: f64) -> f64 {
    let mut rng = Seed(0).child("ranks").rng();
    let mut draw = || {
        let (mut sum, mut total) = (0.0, 0.0);
        for value in values {
            let weight = -(1.0 - rng.uniform()).ln();
            (sum, total) = (sum + weight * value, total + weight);
        }
        sum / total
    };
    let mut drawn: Vec<f64> = (0..DRAWS).map(|_| draw()).collect();
    drawn.sort_unstable_by(f64::total_cmp);
    drawn[((DRAWS as f64 * share).ceil() as usize).clamp(1, DRAWS) - 1]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_e_values_of_equally_likely_ranks_have_mean_one_and_fall_with_the_rank() {
        for n in [1, 20, 300] {
            let blocks = Blocks::new(5, (0..n).map(f64::from).collect(), None);
            let mean = blocks.log_values.iter().map(|v| v.exp()).sum::<f64>() / f64::from(n + 1);
            assert!((mean - 1.0).abs() < 1e-12 && blocks.log_values.is_sorted_by(|a, b| a >= b));
            assert_eq!(blocks.log_value(1e9), blocks.log_values[0]);
            assert_eq!(blocks.log_value(-1.0), blocks.log_values[n as usize]);
        }
        assert!((e_value(0.999) - (0.5 + 0.001 / 6.0)).abs() < 1e-5);
    }

    #[test]
    fn with_confidence_the_mean_given_the_calibration_set_stays_below_one() {
        let (n, confidence) = (60, 0.9);
        let (plain, careful) =
            [None, Some(confidence)].map(|c| Blocks::new(1, (0..n).map(f64::from).collect(), c)).into();
        let (mut rng, mut kept) = (Seed(7).rng(), [0, 0]);
        for _ in 0..2000 {
            // Gaps between sorted uniform numbers: the probabilities of the ranks, given such a set.
            let mut cuts: Vec<f64> = (0..n).map(|_| rng.uniform()).chain([0.0, 1.0]).collect();
            cuts.sort_unstable_by(f64::total_cmp);
            for (kept, blocks) in kept.iter_mut().zip([&plain, &careful]) {
                let gaps = cuts.windows(2).map(|cut| cut[1] - cut[0]);
                let mean: f64 = gaps.zip(&blocks.log_values).map(|(gap, value)| gap * value.exp()).sum();
                *kept += i32::from(mean <= 1.0);
            }
        }
        assert!(kept[0] < 1500 && (1760..1840).contains(&kept[1]), "{kept:?}");
    }
}
