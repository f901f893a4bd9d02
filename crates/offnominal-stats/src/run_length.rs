//! Alarms of a stream that never ends: at most one in so many steps, on average, while nothing is wrong.
//!
//! The scores of a stream depend on one another, so the unit is a block of B steps that is long enough for the largest scores of
//! blocks to be independent, or nearly so: B = 5 τ, with τ = 1 + 2 Σ ρ_k the time over which ranks of scores are correlated
//! (Geyer's initial positive sequence), and twice as many as long as the ranks of neighbouring blocks are correlated by more
//! than 2/√n. [`Blocks`] turns blocks into evidence.
//!
//! Reference: Geyer, Statistical Science 1992, for the sum of autocorrelations.

use crate::StatsError;
use crate::alarm::blocks::Blocks;

/// Blocks that are needed at least.
pub const LEAST_BLOCKS: usize = 20;
/// Times that a block is longer than the time over which scores are correlated.
const TIMES: f64 = 5.0;

/// At most one alarm in so many steps.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RunLength {
    /// Mean number of steps to a false alarm, L.
    pub steps: f64,
    /// Steps of a block, B; chosen from the nominal scores if not given.
    pub block: Option<usize>,
    /// With which confidence over calibration sets it is promised; on average over them if there is none.
    pub confidence: Option<f64>,
}

impl RunLength {
    /// What nominal streams look like, block by block. What is left at the end of a stream is passed over.
    ///
    /// # Errors
    /// If a setting is out of range, or there are too few blocks.
    pub fn blocks<E: AsRef<[f64]>>(&self, nominal: &[E]) -> Result<Blocks, StatsError> {
        let out_of_range = |what, expected, found| Err(StatsError::OutOfRange { what, expected, found });
        if !(self.steps.is_finite() && self.steps >= 1.0) {
            return out_of_range("run length", "a number of steps from 1", self.steps);
        }
        self.confidence.map_or(Ok(()), |c| StatsError::within_unit("confidence", c))?;
        let block = self.block.unwrap_or_else(|| block_length(nominal));
        let maxima = maxima(nominal, block);
        if maxima.len() < LEAST_BLOCKS {
            let longest = nominal.iter().map(|e| e.as_ref().len()).max().unwrap_or_default();
            return Err(StatsError::TooFewBlocks {
                needed: LEAST_BLOCKS,
                block,
                found: maxima.len(),
                longest,
            });
        }
        Ok(Blocks::new(block, maxima, self.confidence))
    }

    /// The statistic of [`Blocks`] above which an alarm is raised.
    pub fn limit(&self, blocks: &Blocks) -> f64 {
        (self.steps / blocks.steps() as f64).ln().max(0.0)
    }
}

/// The largest score of each whole block.
fn maxima<E: AsRef<[f64]>>(streams: &[E], block: usize) -> Vec<f64> {
    let largest = |block: &[f64]| block.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    streams.iter().flat_map(|s| s.as_ref().chunks_exact(block)).map(largest).collect()
}

/// How long a block must be for its largest score to be independent of the next one's, or nearly so.
fn block_length<E: AsRef<[f64]>>(streams: &[E]) -> usize {
    let ranked = ranks(streams);
    let mut block = (TIMES * correlation_time(&ranked)).ceil() as usize;
    // Twice as long would leave too few.
    while maxima(streams, 2 * block).len() >= LEAST_BLOCKS {
        let of_stream = |s: &E| maxima(std::slice::from_ref(s), block);
        let neighbours = ranks(&streams.iter().map(of_stream).collect::<Vec<_>>());
        let n = neighbours.iter().map(|s| s.len().saturating_sub(1)).sum::<usize>();
        if autocorrelation(&neighbours, 1) <= 2.0 / (n.max(1) as f64).sqrt() {
            break;
        }
        block *= 2;
    }
    block
}

/// The numbers of all streams replaced by their ranks among all, from −½ to ½; equal ones share theirs.
fn ranks<E: AsRef<[f64]>>(streams: &[E]) -> Vec<Vec<f64>> {
    let mut sorted: Vec<f64> = streams.iter().flat_map(|s| s.as_ref()).copied().collect();
    sorted.sort_unstable_by(f64::total_cmp);
    let n = sorted.len().max(1) as f64;
    let rank = |x: &f64| {
        let (below, not_above) = (sorted.partition_point(|s| s < x), sorted.partition_point(|s| s <= x));
        (below + not_above) as f64 / (2.0 * n) - 0.5
    };
    streams.iter().map(|s| s.as_ref().iter().map(rank).collect()).collect()
}

/// τ = 1 + 2 Σ ρ_k, over pairs of neighbours as long as their sum is above zero.
fn correlation_time(streams: &[Vec<f64>]) -> f64 {
    let longest = streams.iter().map(Vec::len).max().unwrap_or(0) / 4;
    let mut time = 1.0;
    for k in (1..longest).step_by(2) {
        let pair = autocorrelation(streams, k) + autocorrelation(streams, k + 1);
        if pair <= 0.0 {
            break;
        }
        time += 2.0 * pair;
    }
    time
}

/// Correlation of numbers that are so many steps apart; their mean is zero. Zero if nothing varies.
fn autocorrelation(streams: &[Vec<f64>], lag: usize) -> f64 {
    let sum = |s: &Vec<f64>| s.iter().zip(s.iter().skip(lag)).map(|(a, b)| a * b).sum::<f64>();
    let pairs: usize = streams.iter().map(|s| s.len().saturating_sub(lag)).sum();
    let squares = |s: &Vec<f64>| s.iter().map(|x| x * x).sum::<f64>();
    let variance =
        streams.iter().map(squares).sum::<f64>() / streams.iter().map(Vec::len).sum::<usize>().max(1) as f64;
    let covariance = streams.iter().map(sum).sum::<f64>() / pairs.max(1) as f64;
    if variance > 0.0 && pairs > 0 { covariance / variance } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Level, Rule, Watch};
    use offnominal_core::{Rng, Seed};

    /// A stationary autoregression of order one.
    fn autoregression(phi: f64, n: usize, rng: &mut Rng) -> Vec<f64> {
        let (mut x, noise) = (rng.normal(), (1.0 - phi * phi).sqrt());
        let step = |_| {
            x = phi * x + noise * rng.normal();
            x
        };
        (0..n).map(step).collect()
    }

    #[test]
    fn the_correlation_time_of_an_autoregression() {
        // (1 + φ) / (1 − φ) of the numbers; that of their ranks is little less.
        for (phi, want) in [(0.0, 1.0), (0.9, 19.0)] {
            let stream = autoregression(phi, 200_000, &mut Rng::new(1));
            let found = correlation_time(&ranks(&[stream]));
            assert!((found / want - 1.0).abs() < 0.2, "{phi}: {found}");
        }
        assert_eq!(correlation_time(&[vec![0.0; 50]]), 1.0, "nothing varies");
    }

    /// Mean number of steps to a false alarm, over calibration sets and streams.
    fn mean_run_length(phi: f64, rule: Rule, calibration: usize, runs: u64) -> f64 {
        let run = |i: u64| {
            let mut rng = Seed(i).child("run").rng();
            let nominal = [autoregression(phi, calibration, &mut rng)];
            let threshold = rule.threshold(&nominal, Level::P95).unwrap();
            let mut watch = Watch::new(&threshold);
            let noise = (1.0 - phi * phi).sqrt();
            let mut x = rng.normal();
            let mut steps = 0_u64;
            // A stream that has gone on for thirty times as long counts with that length.
            while steps < 3_000_000 {
                steps += 1;
                x = phi * x + noise * rng.normal();
                if watch.exceeds(x) {
                    break;
                }
            }
            steps as f64
        };
        (0..runs).map(run).sum::<f64>() / runs as f64
    }

    #[test]
    fn the_mean_time_to_a_false_alarm_is_as_long_as_promised() {
        for (phi, calibration) in [(0.0, 20_000), (0.9, 20_000)] {
            let rule = Rule::RunLength(RunLength { steps: 1e5, block: None, confidence: None });
            let found = mean_run_length(phi, rule, calibration, 30);
            assert!(found >= 1e5, "{phi}: {found}");
        }
    }

    #[test]
    fn a_shift_is_found_within_a_few_blocks() {
        let mut rng = Rng::new(5);
        let nominal = [autoregression(0.9, 50_000, &mut rng)];
        let rule = Rule::RunLength(RunLength { steps: 1e5, block: None, confidence: Some(0.9) });
        let threshold = rule.threshold(&nominal, Level::P95).unwrap();
        let mut watch = Watch::new(&threshold);
        let shifted = autoregression(0.9, 5_000, &mut rng);
        let found = shifted.iter().position(|x| watch.exceeds(x + 4.0)).unwrap();
        assert!(found < 600, "{found}");
    }

    #[test]
    fn too_short_streams_and_wrong_settings_are_named() {
        let refused = |run_length: RunLength, n| {
            let nominal = [autoregression(0.0, n, &mut Rng::new(2))];
            run_length.blocks(&nominal).unwrap_err().to_string()
        };
        let sound = RunLength { steps: 1000.0, block: Some(10), confidence: None };
        let want = "run length: expected at least 20 blocks of 10 nominal steps, found 19: scores depend on one another for \
                    about so long, and no block spans two recordings, of which the longest has 199 steps";
        assert_eq!(refused(sound, 199), want);
        // Many steps in short recordings are no block at all.
        let long = RunLength { block: Some(889), ..sound };
        let short = vec![vec![0.0; 500]; 80];
        let found = long.blocks(&short).unwrap_err().to_string();
        assert!(
            found.contains("at least 20 blocks of 889 nominal steps, found 0") && found.contains("500 steps"),
            "{found}"
        );
        let none = RunLength { steps: 0.0, ..sound };
        assert_eq!(refused(none, 1000), "run length: expected a number of steps from 1, found 0");
    }
}
