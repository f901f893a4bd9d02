//! How often evidence over blocks raises an alarm in a nominal stream, given the blocks that were seen.
//!
//! Given its calibration set of n blocks, a new block has rank r with a probability w_r that nobody knows; over calibration sets
//! w follows a Dirichlet law with all n + 1 parameters 1, whatever the scores are. With e_r the e-value of the rank, the mean
//! number N(M) of blocks to an alarm from the evidence M on solves
//!
//! N(M) = 1 + Σ_r w_r N((M + 1) e_r), N = 0 above the limit,
//!
//! which is solved on a grid, geometric in M + 1 and linear in between, as N is where evidence is a martingale. The rate 1 / N(0)
//! at equal probabilities is the value, and its quantiles over draws of w are the interval.

use crate::Level;
use offnominal_core::estimate::Estimate;
use offnominal_core::{Rng, Seed};

/// Points of the grid.
const POINTS: usize = 64;
/// Draws of the probabilities of ranks.
const DRAWS: usize = 999;
/// Ranks whose e-values differ by less than this share are taken together.
const ALIKE: f64 = 0.01;
/// Exponential numbers whose sum is drawn at once.
const MANY: usize = 50;
/// Blocks to an alarm above which the equations are not solved with enough digits.
const LONGEST: f64 = 1e9;

/// Ranks with one e-value, and how many they are.
type Ranks = (f64, usize);

/// Alarms per block, where evidence above so much raises one, from the e-values of all ranks in falling order; none if alarms
/// are rarer than can be computed.
pub(super) fn alarms_per_block(values: &[f64], limit: f64, level: Level) -> Option<Estimate> {
    if limit > LONGEST {
        return None;
    }
    let (ranks, n) = (together(values), values.len());
    let grid = Grid::new(&ranks, limit);
    let equal: Vec<f64> = ranks.iter().map(|(_, count)| *count as f64 / n as f64).collect();
    let mut rng = Seed(0).child("realised").rng();
    let mut draw = || {
        let mut gamma = |count| gamma(count, &mut rng);
        let weights: Vec<f64> = ranks.iter().map(|(_, count)| gamma(*count)).collect();
        let total: f64 = weights.iter().sum();
        1.0 / grid.blocks_to_alarm(&weights.iter().map(|w| w / total).collect::<Vec<_>>())
    };
    let mut rates: Vec<f64> = (0..DRAWS).map(|_| draw()).collect();
    rates.sort_unstable_by(f64::total_cmp);
    let quantile = |share: f64| rates[((DRAWS + 1) as f64 * share).round() as usize - 1];
    let interval = (quantile(level.tail()), quantile(1.0 - level.tail()));
    Some(level.estimate(1.0 / grid.blocks_to_alarm(&equal), interval, n - 1, "dirichlet ranks"))
}

/// A sum of so many exponential numbers of mean one; many of them by Wilson and Hilferty's cube of a normal number.
fn gamma(count: usize, rng: &mut Rng) -> f64 {
    if count <= MANY {
        return (0..count).map(|_| -(1.0 - rng.uniform()).ln()).sum();
    }
    let k = count as f64;
    k * (1.0 - 1.0 / (9.0 * k) + rng.normal() / (3.0 * k.sqrt())).powi(3)
}

/// Ranks with e-values that are nearly alike, as one of their mean.
fn together(values: &[f64]) -> Vec<Ranks> {
    let alike = values.chunk_by({
        let mut first = values[0];
        move |_, next| {
            let is_alike = *next >= first * (1.0 - ALIKE);
            first = if is_alike { first } else { *next };
            is_alike
        }
    });
    alike.map(|group| (group.iter().sum::<f64>() / group.len() as f64, group.len())).collect()
}

/// Where the evidence goes from each point, by each group of ranks: between which two points, and how far; none for an alarm.
struct Grid {
    moves: Vec<Vec<Option<(usize, f64)>>>,
}

impl Grid {
    fn new(ranks: &[Ranks], limit: f64) -> Grid {
        let step = (1.0 + limit).ln() / (POINTS - 1) as f64;
        let point = |i: usize| (i as f64 * step).exp() - 1.0;
        let go = |i: usize, e: f64| {
            let next = (point(i) + 1.0) * e;
            let below = (((1.0 + next).ln() / step) as usize).min(POINTS - 2);
            let part = (next - point(below)) / (point(below + 1) - point(below));
            (next <= limit).then_some((below, part))
        };
        Grid { moves: (0..POINTS).map(|i| ranks.iter().map(|(e, _)| go(i, *e)).collect()).collect() }
    }

    /// N(0), for these probabilities of the groups.
    fn blocks_to_alarm(&self, weights: &[f64]) -> f64 {
        let mut rows: Vec<Vec<f64>> = (0..POINTS)
            .map(|i| {
                let mut row = vec![0.0; POINTS + 1];
                (row[i], row[POINTS]) = (1.0, 1.0);
                for (&w, &(below, part)) in
                    weights.iter().zip(&self.moves[i]).filter_map(|(w, to)| Some((w, to.as_ref()?)))
                {
                    row[below] -= w * (1.0 - part);
                    row[below + 1] -= w * part;
                }
                row
            })
            .collect();
        // From the last point to the first, so that the last number found is N(0). The matrix is diagonally dominant.
        for pivot in (0..POINTS).rev() {
            let (above, own) = rows.split_at_mut(pivot);
            for row in above {
                let factor = row[pivot] / own[0][pivot];
                row.iter_mut().zip(&own[0]).for_each(|(x, y)| *x -= factor * y);
            }
        }
        rows[0][POINTS] / rows[0][0]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::alarm::blocks::Blocks;

    /// Mean number of blocks to an alarm by simulation, with its standard error.
    fn simulated(values: &[f64], weights: &[f64], limit: f64, runs: usize) -> (f64, f64) {
        let mut rng = Seed(3).rng();
        let total: Vec<f64> = weights
            .iter()
            .scan(0.0, |sum, w| {
                *sum += w;
                Some(*sum)
            })
            .collect();
        let mut run = || {
            let (mut evidence, mut blocks) = (0.0, 0.0);
            while evidence <= limit {
                let u = rng.uniform();
                let rank = total.partition_point(|t| *t <= u).min(values.len() - 1);
                (evidence, blocks) = ((evidence + 1.0) * values[rank], blocks + 1.0);
            }
            blocks
        };
        let found: Vec<f64> = (0..runs).map(|_| run()).collect();
        let mean = found.iter().sum::<f64>() / runs as f64;
        let variance = found.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / runs as f64;
        (mean, (variance / runs as f64).sqrt())
    }

    fn values(n: usize) -> Vec<f64> {
        let blocks = Blocks::new(1, (0..n).map(|i| i as f64).collect(), None);
        (0..=n).map(|r| blocks.log_value((n - r) as f64 - 0.5).exp()).collect()
    }

    #[test]
    fn the_mean_number_of_blocks_is_that_of_a_simulation() {
        for (n, limit) in [(20, 30.0), (200, 500.0), (3000, 2000.0)] {
            let values = values(n);
            let ranks = together(&values);
            let mut rng = Seed(n as u64).rng();
            for is_equal in [true, false] {
                let drawn: Vec<f64> =
                    values.iter().map(|_| if is_equal { 1.0 } else { -rng.uniform().ln() }).collect();
                let total: f64 = drawn.iter().sum();
                let each: Vec<f64> = drawn.iter().map(|w| w / total).collect();
                let mut rest = &each[..];
                let mut of_group = |count: usize| {
                    let (own, others) = rest.split_at(count);
                    rest = others;
                    own.iter().sum::<f64>()
                };
                let grouped: Vec<f64> = ranks.iter().map(|(_, count)| of_group(*count)).collect();
                let found = Grid::new(&ranks, limit).blocks_to_alarm(&grouped);
                let (want, error) = simulated(&values, &each, limit, 2_000);
                assert!(
                    (found - want).abs() < 4.0 * error + 0.03 * want,
                    "{n} {limit}: {found}, {want} ± {error}"
                );
            }
        }
    }

    #[test]
    fn the_value_keeps_the_promise_and_the_interval_narrows() {
        let [few, many] = [50, 2000].map(|n| alarms_per_block(&values(n), 1000.0, Level::P95).unwrap());
        for found in [&few, &many] {
            assert!(found.value <= 1e-3 && found.low < found.value && found.high > found.value, "{found:.6}");
        }
        assert!(few.high / few.low > 2.0 * many.high / many.low, "{few:.6} {many:.6}");
        assert_eq!(alarms_per_block(&values(50), 1e12, Level::P95), None);
    }
}
