//! What became of the episodes of a training run: where weaker policies failed, the last one is likely to.
//!
//! A history is a file of tensors: `initial` `[n, d]`, and `step`, `noise` and `failed` `[n]`; the header names
//! environment, algorithm, seed and length of the run. Where episodes lead past places, such as those of a track, `place`
//! `[n]` says where each failed, and is −1 of those that did not. Where the environment has a margin, `margin` `[n]` is the smallest of
//! each episode. Tensors hold single precision, in which most failures of a chaotic
//! environment do not fail again; so initial conditions are sums of three tensors, `initial`, `initial.middle` and
//! `initial.low`, which together have every bit. A file with the first one only was recorded in single precision.

use offnominal_core::Seed;
use offnominal_nets::{TensorError, Tensors};
use serde::{Deserialize, Serialize};

/// Value of the entry `format` of the header.
const FORMAT: &str = "offnominal-history-2";
/// That of files without margins, which are read too.
const WITHOUT_MARGINS: &str = "offnominal-history-1";

/// Names of the parts of initial conditions.
const INITIAL: [&str; 3] = ["initial", "initial.middle", "initial.low"];

/// One training episode.
#[derive(Debug, Clone, PartialEq)]
pub struct TrainingEpisode {
    /// The initial condition.
    pub initial: Vec<f64>,
    /// Step of the training at which it ended.
    pub step: u64,
    /// How much the learner then explored (see [`Learner::noise`](crate::Learner::noise)).
    pub noise: f64,
    /// Whether it ended in failure.
    pub failed: bool,
    /// The place where it failed, of those that its initial condition leads past; nothing where there are none.
    pub place: Option<u32>,
    /// The smallest margin: how near the episode came to failing, where the environment says it.
    pub margin: Option<f64>,
}

/// The episodes of a run, in the order in which they ended.
#[derive(Debug, Clone, PartialEq)]
pub struct History {
    /// What was trained.
    pub run: Run,
    /// The episodes.
    pub episodes: Vec<TrainingEpisode>,
    /// Whether the file had initial conditions in single precision: episodes need not end again as they did.
    pub is_rounded: bool,
}

/// The run that a history belongs to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Run {
    /// The environment.
    pub env: String,
    /// Names of the numbers of an initial condition.
    pub initial: Vec<String>,
    /// The algorithm.
    pub algorithm: String,
    /// The seed.
    pub seed: Seed,
    /// Steps of the whole run.
    pub steps: u64,
}

impl History {
    /// A history without episodes.
    pub fn new(run: Run) -> History {
        History { run, episodes: Vec::new(), is_rounded: false }
    }

    /// How many of the episodes failed.
    pub fn failures(&self) -> usize {
        self.episodes.iter().filter(|e| e.failed).count()
    }

    /// The smallest margin of each episode; nothing if there is none, or one has none.
    pub fn margins(&self) -> Option<Vec<f64>> {
        let margins: Option<Vec<f64>> = self.episodes.iter().map(|e| e.margin).collect();
        margins.filter(|margins| !margins.is_empty())
    }

    /// Forgets what ended after a step, so that a run that is continued from there writes it again.
    pub fn forget_after(&mut self, step: u64) {
        self.episodes.retain(|e| e.step <= step);
    }

    /// The file.
    ///
    /// # Panics
    /// If an initial condition is not as long as the run says.
    pub fn to_bytes(&self) -> Vec<u8> {
        let (n, width) = (self.episodes.len(), self.run.initial.len());
        let column = |of: fn(&TrainingEpisode) -> f32| self.episodes.iter().map(of).collect::<Vec<f32>>();
        let parts = self.episodes.iter().flat_map(|e| e.initial.iter().map(|&v| split(v)));
        let parts: Vec<[f32; 3]> = parts.collect();
        let mut file = Tensors::default();
        for (part, name) in INITIAL.iter().enumerate().take(if self.is_rounded { 1 } else { 3 }) {
            let values: Vec<f32> = parts.iter().map(|value| value[part]).collect();
            file.insert(name, &[n, width], &values);
        }
        // Steps in two parts, as a number of single precision holds only 24 bits.
        file.insert("step.high", &[n], &column(|e| (e.step >> 20) as f32));
        file.insert("step.low", &[n], &column(|e| (e.step & 0xf_ffff) as f32));
        file.insert("noise", &[n], &column(|e| e.noise as f32));
        file.insert("failed", &[n], &column(|e| f32::from(u8::from(e.failed))));
        if self.episodes.iter().any(|e| e.place.is_some()) {
            file.insert("place", &[n], &column(|e| e.place.map_or(-1.0, |place| place as f32)));
        }
        if let Some(margins) = self.margins() {
            file.insert("margin", &[n], &margins.iter().map(|&margin| margin as f32).collect::<Vec<f32>>());
        }
        file.put_entry("format", FORMAT);
        file.put_json("run", &self.run);
        file.to_bytes()
    }

    /// Reads a file.
    ///
    /// # Errors
    /// If it is not one, or holds what no run can have written.
    pub fn from_bytes(bytes: &[u8]) -> Result<History, TensorError> {
        let file = Tensors::from_bytes(bytes)?;
        if file.entry("format") != WITHOUT_MARGINS {
            file.expect_entry("format", FORMAT)?;
        }
        let run: Run = file.json("run")?;
        let (n, width) = (file.get("step.low")?.1.len(), run.initial.len());
        let is_rounded = !file.shapes().any(|(name, _)| name == INITIAL[1]);
        let part = |i: usize| file.expect(INITIAL[i], &[n, width]);
        let (high, middle, low) = match is_rounded {
            true => (part(0)?, None, None),
            false => (part(0)?, Some(part(1)?), Some(part(2)?)),
        };
        let rest = |part: Option<&[f32]>, at: usize| part.map_or(0.0, |values| f64::from(values[at]));
        let initial = |at: usize| f64::from(high[at]) + (rest(middle, at) + rest(low, at));
        let column = |name: &str| file.expect(name, &[n]);
        let (step_high, step_low) = (column("step.high")?, column("step.low")?);
        let (noise, failed) = (column("noise")?, column("failed")?);
        let has = |wanted: &str| file.shapes().any(|(name, _)| name == wanted);
        let places = has("place").then(|| column("place")).transpose()?;
        let margins = has("margin").then(|| column("margin")).transpose()?;
        let mut episodes = Vec::with_capacity(n);
        for i in 0..n {
            let step = whole(i, "step.high", step_high[i])? << 20 | whole(i, "step.low", step_low[i])?;
            let has_failed = whole(i, "failed", failed[i])?;
            TensorError::require(has_failed <= 1, &at(i, "failed"), "0 or 1", has_failed)?;
            TensorError::require(noise[i] >= 0.0, &at(i, "noise"), "0 or more", noise[i])?;
            episodes.push(TrainingEpisode {
                initial: (i * width..(i + 1) * width).map(initial).collect(),
                step,
                noise: f64::from(noise[i]),
                failed: has_failed == 1,
                place: places.map(|places| place(i, places[i], has_failed == 1)).transpose()?.flatten(),
                margin: margins.map(|margins| f64::from(margins[i])),
            });
        }
        let is_sorted = episodes.is_sorted_by_key(|e| e.step);
        TensorError::require(is_sorted, "steps", "an order in which the episodes ended", "another one")?;
        let last = episodes.last().map_or(0, |e| e.step);
        TensorError::require(last <= run.steps, "steps", &format!("at most {}", run.steps), last)?;
        Ok(History { run, episodes, is_rounded })
    }
}

/// A number of double precision as the sum of three of single precision, from the largest to the smallest. Exact for
/// zero, and from 1e-28 to the largest number of single precision.
fn split(value: f64) -> [f32; 3] {
    let high = value as f32;
    let rest = value - f64::from(high);
    let middle = rest as f32;
    [high, middle, (rest - f64::from(middle)) as f32]
}

/// The place where an episode failed; only one that failed has one.
fn place(i: usize, value: f32, failed: bool) -> Result<Option<u32>, TensorError> {
    if value == -1.0 {
        return Ok(None);
    }
    TensorError::require(failed, &at(i, "place"), "-1, as it did not fail", value)?;
    Ok(Some(whole(i, "place", value)? as u32))
}

fn at(i: usize, column: &str) -> String {
    format!("{column} of episode {i}")
}

/// A count that is stored as a number of single precision.
fn whole(i: usize, column: &str, value: f32) -> Result<u64, TensorError> {
    let holds = (0.0..=16_777_216.0).contains(&value) && value.fract() == 0.0;
    TensorError::require(holds, &at(i, column), "a count", value)?;
    Ok(value as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn history() -> History {
        let initial = vec!["x".to_string(), "y".to_string()];
        let (env, algorithm) = ("w".to_string(), "td3".to_string());
        let run = Run { env, initial, algorithm, seed: Seed(3), steps: 40_000_000 };
        let past = |step: u64, failed| TrainingEpisode {
            initial: vec![0.25, -1.5],
            step,
            noise: 0.5,
            failed,
            place: None,
            margin: None,
        };
        History { run, episodes: vec![past(7, true), past(33_554_435, false)], is_rounded: false }
    }

    #[test]
    fn what_is_written_is_read() {
        let history = history();
        assert_eq!(History::from_bytes(&history.to_bytes()).unwrap(), history);
        assert_eq!(history.failures(), 1);
        let mut placed = history.clone();
        placed.episodes[0].place = Some(17);
        assert_eq!(History::from_bytes(&placed.to_bytes()).unwrap(), placed);
        let mut told = history.clone();
        (told.episodes[0].margin, told.episodes[1].margin) = (Some(-0.25), Some(1.5));
        assert_eq!(told.margins(), Some(vec![-0.25, 1.5]));
        assert_eq!(History::from_bytes(&told.to_bytes()).unwrap(), told);
        let none = History::new(history.run);
        assert_eq!(History::from_bytes(&none.to_bytes()).unwrap(), none);
    }

    #[test]
    fn files_without_margins_are_read() {
        let history = history();
        let mut file = Tensors::from_bytes(&history.to_bytes()).unwrap();
        file.put_entry("format", WITHOUT_MARGINS);
        assert_eq!(History::from_bytes(&file.to_bytes()).unwrap(), history);
        file.put_entry("format", "offnominal-history-9");
        let error = History::from_bytes(&file.to_bytes()).unwrap_err().to_string();
        assert!(error.contains("offnominal-history-2"), "{error}");
    }

    #[test]
    fn initial_conditions_have_every_bit_unless_they_were_rounded() {
        let mut history = history();
        history.episodes[0].initial = vec![0.1, -12_345.678_901_234_567];
        assert_eq!(History::from_bytes(&history.to_bytes()).unwrap(), history);
        let rounded = History { is_rounded: true, ..history };
        let read = History::from_bytes(&rounded.to_bytes()).unwrap();
        assert!(read.is_rounded);
        assert_eq!(read.episodes[0].initial[0], f64::from(0.1_f32));
    }

    proptest! {
        #[test]
        fn a_number_is_the_sum_of_its_parts(mantissa in -2.0..2.0_f64, exponent in -60..100) {
            let value = mantissa * 2f64.powi(exponent);
            prop_assume!(value == 0.0 || value.abs() > 1e-28);
            let [high, middle, low] = split(value).map(f64::from);
            prop_assert_eq!((high + (middle + low)).to_bits(), value.to_bits());
        }
    }

    #[test]
    fn a_run_that_is_continued_forgets_what_it_will_play_again() {
        let mut history = history();
        history.forget_after(7);
        assert_eq!(history.episodes.len(), 1);
    }

    #[track_caller]
    fn refuses(change: impl Fn(&mut History), want: &str) {
        let mut history = history();
        change(&mut history);
        let error = History::from_bytes(&history.to_bytes()).unwrap_err().to_string();
        assert!(error.contains(want), "{error}");
    }

    #[test]
    fn what_no_run_writes_is_refused() {
        refuses(|h| h.episodes.reverse(), "steps: expected an order");
        refuses(|h| h.run.steps = 100, "steps: expected at most 100, found 33554435");
        refuses(|h| h.episodes[1].noise = -1.0, "noise of episode 1: expected 0 or more, found -1");
        refuses(|h| h.episodes[0].noise = f64::NAN, "finite");
        refuses(
            |h| h.episodes[1].place = Some(4),
            "place of episode 1: expected -1, as it did not fail, found 4",
        );
        assert!(History::from_bytes(b"history").is_err());
    }

    proptest! {
        #[test]
        fn damaged_bytes_are_an_error_or_a_history(at in 0_usize..400, byte in 0_u8..) {
            let mut bytes = history().to_bytes();
            let at = at % bytes.len();
            bytes[at] = byte;
            if let Ok(read) = History::from_bytes(&bytes) {
                prop_assert!(read.episodes.iter().all(|e| e.initial.iter().all(|v| v.is_finite())));
            }
        }
    }
}
