//! Signals of action chunks.
//!
//! At each of its inferences t = 0, 1, … a generative policy predicts a chunk A_t `[H, A]` of H actions of A numbers, of
//! which the first r are executed before the next inference. What A_{t−1} and A_t say of the same future moments is their
//! overlap: A_{t−1} from action r_{t−1} on, and A_t from its first one on, n = min(H_{t−1} − r_{t−1}, H_t) actions each.
//! Where S samples are given, `[S, H, A]`, the first one is the one that is executed.
//!
//! | signal | definition | source |
//! |---|---|---|
//! | `tce` | temporal consistency error: mean over n × A of the squared differences of the overlaps; 0 without an overlap | ActProbe, arXiv 2606.08508 (`chunk_mse`) |
//! | `acm` | action chunk magnitude: √(mean of the squares of the r executed actions) | ActProbe (`action_norm` of its code) |
//! | `jerk` | √(mean of squared second differences of the executed actions), with the two executed before; 0 with fewer than three | ActProbe (`action_jerk`), which takes the last three |
//! | `stac-mmd` | MMD² of the S flattened overlaps: mean k(x, x′) + mean k(y, y′) − 2 mean k(x, y), k = exp(−‖·‖² / (n A)), diagonals included | STAC of Sentinel, arXiv 2410.04640 |
//! | `stac-energy` | energy distance 2 E‖X − Y‖ − E‖X − X′‖ − E‖Y − Y′‖, diagonals left out | Székely and Rizzo, Journal of Statistical Planning and Inference 143(8), 2013 |
//! | `entropy` | mean over H × A of ½ log₂(2πe(σ² + 10⁻⁶)), σ² the variance over samples (divisor S) | entropy of a normal distribution; FIPER, arXiv 2510.09459, counts cells instead |
//!
//! The last three need two samples or more. Units are those of the policy's actions; nothing is scaled, and the gripper is
//! not left out. The horizon may change from chunk to chunk; the number of samples and the width may not.

use anyhow::{Context, Result, ensure};
use offnominal_core::limits::{COLUMNS, DRAWS, WINDOW};
use serde_json::Value;

/// Names of the signals of one chunk, and of those that need samples.
const NAMES: [&str; 6] = ["tce", "acm", "jerk", "stac-mmd", "stac-energy", "entropy"];
/// Added to a variance, so that samples that agree have a finite entropy.
const FLOOR: f64 = 1e-6;

/// Samples of a chunk of actions.
#[derive(Debug, Clone, PartialEq)]
pub struct Chunk {
    /// Samples, actions, numbers of an action.
    sizes: [usize; 3],
    values: Vec<f32>,
}

impl Chunk {
    /// A chunk `[S, H, A]`.
    ///
    /// # Errors
    /// If it is empty or too large.
    pub fn new(sizes: [usize; 3], values: Vec<f32>) -> Result<Chunk> {
        for (size, (what, most)) in
            sizes.iter().zip([("samples", DRAWS), ("actions", WINDOW), ("numbers of an action", COLUMNS)])
        {
            ensure!((1..=most).contains(size), "expected 1 to {most} {what}, found {size}");
        }
        ensure!(
            values.len() == sizes.iter().product::<usize>(),
            "expected {sizes:?} numbers, found {}",
            values.len()
        );
        Ok(Chunk { sizes, values })
    }

    /// From nested lists, `[H, A]` or `[S, H, A]`.
    ///
    /// # Errors
    /// If they are no such lists of finite numbers, or their lengths differ.
    pub fn of(value: &Value) -> Result<Chunk> {
        let (mut sizes, mut values) = (Vec::new(), Vec::new());
        flatten(value, 0, &mut sizes, &mut values)?;
        match *sizes {
            [horizon, width] => Chunk::new([1, horizon, width], values),
            [samples, horizon, width] => Chunk::new([samples, horizon, width], values),
            _ => anyhow::bail!("expected lists [H, A] or [S, H, A], found {} levels of lists", sizes.len()),
        }
    }

    /// A sample `[H, A]`.
    fn sample(&self, sample: usize) -> &[f32] {
        let [_, horizon, width] = self.sizes;
        &self.values[sample * horizon * width..][..horizon * width]
    }
}

/// Appends the numbers of nested lists, and checks that all lists of a level are equally long.
fn flatten(value: &Value, level: usize, sizes: &mut Vec<usize>, values: &mut Vec<f32>) -> Result<()> {
    let Some(items) = value.as_array() else {
        ensure!(
            level == sizes.len(),
            "expected numbers at level {}, found one at level {level}",
            sizes.len()
        );
        let number = value.as_f64().map(|x| x as f32).filter(|x| x.is_finite());
        values.push(number.with_context(|| format!("expected a finite number, found {value}"))?);
        return Ok(());
    };
    ensure!(level < 3, "expected at most three levels of lists, found more");
    match sizes.get(level) {
        Some(&size) => ensure!(size == items.len(), "expected lists of {size}, found one of {}", items.len()),
        None => {
            ensure!(values.is_empty(), "expected numbers at level {level}, found a list");
            sizes.push(items.len());
        }
    }
    items.iter().try_for_each(|item| flatten(item, level + 1, sizes, values))
}

/// The signals of the chunks of one rollout as they come.
#[derive(Debug, Default)]
pub struct ChunkSignals {
    before: Option<(Chunk, usize)>,
    /// The last two executed actions.
    executed: Vec<Vec<f32>>,
    found: Vec<Vec<f64>>,
}

impl ChunkSignals {
    /// Adds a chunk of which so many actions are executed.
    ///
    /// # Errors
    /// If it has another width or number of samples than the one before, or fewer actions than are executed.
    pub fn push(&mut self, chunk: Chunk, executed: usize) -> Result<()> {
        let [samples, horizon, width] = chunk.sizes;
        ensure!(executed > 0, "expected one executed action or more, found 0");
        ensure!(
            executed <= horizon,
            "expected at least the {executed} actions that are executed, found {horizon}"
        );
        if let Some((before, _)) = &self.before {
            let [expected_samples, _, expected] = before.sizes;
            ensure!(width == expected, "expected actions of {expected} numbers as before, found {width}");
            ensure!(
                samples == expected_samples,
                "expected {expected_samples} samples as before, found {samples}"
            );
        }
        let done = &chunk.sample(0)[..executed * width];
        let jerk = self.jerk(done, width);
        let overlap = self.before.as_ref().map(|(before, r)| Overlap::new(before, &chunk, *r));
        let mut values = vec![
            overlap.as_ref().map_or(0.0, Overlap::squared_difference),
            (done.iter().map(|&a| f64::from(a).powi(2)).sum::<f64>() / done.len() as f64).sqrt(),
            jerk,
        ];
        if samples > 1 {
            values.push(overlap.as_ref().map_or(0.0, Overlap::mmd));
            values.push(overlap.as_ref().map_or(0.0, Overlap::energy));
            values.push(entropy(&chunk));
        }
        self.found.resize(values.len(), vec![]);
        self.found.iter_mut().zip(values).for_each(|(signal, value)| signal.push(value));
        self.before = Some((chunk, executed));
        Ok(())
    }

    fn jerk(&mut self, done: &[f32], width: usize) -> f64 {
        self.executed.extend(done.chunks_exact(width).map(<[f32]>::to_vec));
        let second = |three: &[Vec<f32>]| -> f64 {
            let number =
                |i: usize| f64::from(three[2][i]) - 2.0 * f64::from(three[1][i]) + f64::from(three[0][i]);
            (0..width).map(|i| number(i).powi(2)).sum()
        };
        let n = self.executed.len().saturating_sub(2);
        let sum: f64 = self.executed.windows(3).map(second).sum();
        self.executed.drain(..n);
        if n == 0 { 0.0 } else { (sum / (n * width) as f64).sqrt() }
    }

    /// Name and value of each signal of the last chunk.
    pub fn last(&self) -> impl Iterator<Item = (&'static str, f64)> {
        NAMES.into_iter().zip(self.found.iter().filter_map(|values| values.last().copied()))
    }

    /// Name and values of each signal.
    pub fn end(self) -> Vec<(&'static str, Vec<f64>)> {
        NAMES.into_iter().zip(self.found).collect()
    }
}

/// What two chunks say of the same moments: of each sample the flattened actions.
struct Overlap<'a> {
    before: Vec<&'a [f32]>,
    now: Vec<&'a [f32]>,
}

impl<'a> Overlap<'a> {
    fn new(before: &'a Chunk, now: &'a Chunk, executed: usize) -> Overlap<'a> {
        let [samples, horizon, width] = before.sizes;
        let n = (horizon - executed).min(now.sizes[1]);
        Overlap {
            before: (0..samples).map(|s| &before.sample(s)[executed * width..][..n * width]).collect(),
            now: (0..samples).map(|s| &now.sample(s)[..n * width]).collect(),
        }
    }

    fn len(&self) -> usize {
        self.now[0].len()
    }

    fn squared_difference(&self) -> f64 {
        let n = self.len().max(1) as f64;
        squared(self.before[0], self.now[0]) / n
    }

    fn mmd(&self) -> f64 {
        let scale = self.len().max(1) as f64;
        let kernel = |a: &[f32], b: &[f32]| (-squared(a, b) / scale).exp();
        let [x, y] = [&self.before, &self.now];
        mean(x, x, kernel, true) + mean(y, y, kernel, true) - 2.0 * mean(x, y, kernel, true)
    }

    fn energy(&self) -> f64 {
        let distance = |a: &[f32], b: &[f32]| squared(a, b).sqrt();
        let [x, y] = [&self.before, &self.now];
        2.0 * mean(x, y, distance, true) - mean(x, x, distance, false) - mean(y, y, distance, false)
    }
}

fn squared(a: &[f32], b: &[f32]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (f64::from(*a) - f64::from(*b)).powi(2)).sum()
}

/// The mean over all pairs, or over those of different numbers.
fn mean(x: &[&[f32]], y: &[&[f32]], of: impl Fn(&[f32], &[f32]) -> f64, with_diagonal: bool) -> f64 {
    let (mut sum, mut n) = (0.0, 0.0);
    for (i, a) in x.iter().enumerate() {
        for (_, b) in y.iter().enumerate().filter(|(j, _)| with_diagonal || i != *j) {
            sum += of(a, b);
            n += 1.0;
        }
    }
    sum / n
}

fn entropy(chunk: &Chunk) -> f64 {
    let [samples, horizon, width] = chunk.sizes;
    let numbers = horizon * width;
    let bits = |i: usize| {
        let values = || (0..samples).map(|s| f64::from(chunk.values[s * numbers + i]));
        let mean = values().sum::<f64>() / samples as f64;
        let variance = values().map(|v| (v - mean).powi(2)).sum::<f64>() / samples as f64;
        0.5 * (2.0 * std::f64::consts::PI * std::f64::consts::E * (variance + FLOOR)).log2()
    };
    (0..numbers).map(bits).sum::<f64>() / numbers as f64
}

#[cfg(test)]
mod tests;
