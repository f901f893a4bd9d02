//! Importance weights of one or several streams of experiments, and their mean.
//!
//! Stream s takes the share cₛ of the experiments and accepts a draw x with the chance aₛ(x); a plain stream accepts
//! every one. Together they propose the density p(x) Σ cₛ aₛ(x) / Zₛ with Zₛ = E\[aₛ\], so an experiment at x has the
//! weight w(x) = 1 / Σ cₛ aₛ(x) / Zₛ, whichever stream it came from: the balance heuristic. A failure that only the plain
//! stream would find is then not weighed by the chance of another one to find it.
//!
//! With a plain stream, w ≤ 1 / c, and the mean of w C is a mean of bounded terms ([`Bounded`]). Every weight grows with
//! every Zₛ, so the interval runs from the lower end at the lower ends of all Zₛ to the upper end at their upper ends;
//! the probabilities that a Zₛ is outside its own interval are taken from the level.
//!
//! If each experiment picks its stream at random, the interval holds at any number of experiments; with planned numbers
//! per stream, at the planned total. Without a plain stream there is only the normal approximation.
//!
//! Reference: Veach and Guibas, SIGGRAPH 1995; Owen, Monte Carlo Theory, Methods and Examples, section 9.12.

use super::bounded::Bounded;
use super::diagnostics::Diagnostics;
use super::normal::{normal, self_normalised};
use super::refusal::Refusal;
use super::weighted::{Weighted, mean};
use crate::{Level, StatsError};
use offnominal_core::estimate::Estimate;

/// One way to propose initial conditions.
#[derive(Debug, Clone, PartialEq)]
pub struct Stream {
    share: f64,
    /// Mean chance of a draw to be accepted; exact if the ends are equal.
    mean: Estimate,
}

impl Stream {
    /// Draws from P, all accepted.
    pub fn plain(share: f64) -> Stream {
        let mean = Estimate { value: 1.0, low: 1.0, high: 1.0, level: 1.0, n: 0, method: "exact".into() };
        Stream { share, mean }
    }

    /// Draws that are accepted with a chance; `mean` is its mean over draws, from draws without an experiment.
    pub fn guided(share: f64, mean: Estimate) -> Stream {
        Stream { share, mean }
    }

    fn is_plain(&self) -> bool {
        self.share > 0.0 && self.mean.low == 1.0 && self.mean.high == 1.0
    }
}

/// Experiments of several streams.
#[derive(Debug, Clone, PartialEq)]
pub struct Pool {
    streams: Vec<Stream>,
    experiments: Vec<Weighted>,
    /// Terms with every Z at its lower, and at its upper end.
    ends: Option<[Bounded; 2]>,
    /// Sums of both, for the normal approximation.
    sums: [f64; 2],
}

impl Pool {
    /// A pool without experiments.
    ///
    /// # Errors
    /// If shares are negative or do not add up to 1, or a mean chance is not positive.
    pub fn new(streams: Vec<Stream>) -> Result<Pool, Refusal> {
        let total: f64 = streams.iter().map(|s| s.share).sum();
        StatsError::within((total - 1.0).abs() < 1e-9, "shares of the streams", "a sum of 1", total)?;
        for stream in &streams {
            StatsError::within(
                stream.share >= 0.0,
                "share of a stream",
                "a number from 0 to 1",
                stream.share,
            )?;
            let mean = stream.mean.value;
            StatsError::within(mean > 0.0, "mean chance to be accepted", "a positive number", mean)?;
        }
        let plain: f64 = streams.iter().filter(|s| s.is_plain()).map(|s| s.share).sum();
        let ends = (plain > 0.0).then(|| [Bounded::new(1.0 / plain), Bounded::new(1.0 / plain)]);
        Ok(Pool { streams, experiments: Vec::new(), ends, sums: [0.0; 2] })
    }

    /// One experiment, in an order in which the streams take turns: the chances of its initial condition to be
    /// accepted, stream by stream, and whether it failed.
    ///
    /// # Panics
    /// If there are not as many chances as streams.
    pub fn record(&mut self, chances: &[f64], failed: bool) {
        assert_eq!(chances.len(), self.streams.len(), "one chance per stream");
        let weights = [|z: &Estimate| z.low, |z: &Estimate| z.high].map(|end| self.weight(chances, end));
        self.experiments.push(Weighted { weight: self.weight_of(chances), failed });
        for (i, weight) in weights.into_iter().enumerate() {
            let term = if failed { weight } else { 0.0 };
            self.sums[i] += term;
            if let Some(ends) = &mut self.ends {
                ends[i].push(term);
            }
        }
    }

    fn weight(&self, chances: &[f64], z: impl Fn(&Estimate) -> f64) -> f64 {
        let ratio = |(s, a): (&Stream, &f64)| if s.share > 0.0 { s.share * a / z(&s.mean) } else { 0.0 };
        1.0 / self.streams.iter().zip(chances).map(ratio).sum::<f64>()
    }

    /// The weight of an experiment with these chances to be accepted.
    pub fn weight_of(&self, chances: &[f64]) -> f64 {
        self.weight(chances, |z| z.value)
    }

    /// The failure probability without its interval; zero without experiments.
    pub fn value(&self) -> f64 {
        mean(&self.experiments, self.experiments.len().max(1), Weighted::term).0
    }

    /// The failure probability, valid whatever the predictors are worth.
    ///
    /// # Errors
    /// If there are no experiments, no plain stream, or the mean chances are known at too low a level.
    pub fn estimate(&self, level: Level) -> Result<Estimate, Refusal> {
        StatsError::require("failure probability", 1, "experiments", self.experiments.len())?;
        let [low, high] = self.ends.as_ref().ok_or(Refusal::UnboundedWeights)?;
        let spent: f64 = self.streams.iter().filter(|s| s.share > 0.0).map(|s| 1.0 - s.mean.level).sum();
        let left = level.get() + spent;
        let expected = "a probability to miss any mean chance below half of that to miss the risk";
        StatsError::within(spent < level.tail() + 1e-12, "level of the mean chances", expected, spent)?;
        let of_terms = Level::try_from(left)?;
        let ends = (low.estimate(of_terms)?.low, high.estimate(of_terms)?.high.min(1.0));
        Ok(level.estimate(self.value(), ends, self.experiments.len(), "balance-betting"))
    }

    /// The failure probability with a normal interval and the delta method for the mean chances: only as good as the
    /// predictors.
    ///
    /// # Errors
    /// If the diagnostics of the weights warn.
    pub fn normal(&self, level: Level) -> Result<Estimate, Refusal> {
        let n = self.experiments.len();
        let extra = (self.sums[1] - self.sums[0]) / (2.0 * n.max(1) as f64 * self.z()?);
        normal(&self.experiments, n, extra, level)
    }

    /// Half-widths per standard error in the interval of the least certain mean chance.
    fn z(&self) -> Result<f64, Refusal> {
        let guided = self.streams.iter().map(|s| s.mean.level).filter(|&l| l < 1.0);
        let level = guided.fold(1.0, f64::min);
        Ok(if level < 1.0 { Level::try_from(level)?.z() } else { 1.0 })
    }

    /// The self-normalised mean; a cross-check.
    ///
    /// # Errors
    /// If fewer than five experiments failed.
    pub fn self_normalised(&self, level: Level) -> Result<Estimate, Refusal> {
        self_normalised(&self.experiments, level)
    }

    /// What the weights say of themselves.
    ///
    /// # Errors
    /// If there are no experiments.
    pub fn diagnostics(&self) -> Result<Diagnostics, Refusal> {
        Diagnostics::of(&self.experiments, self.experiments.len())
    }
}

#[cfg(test)]
mod tests {
    use super::super::toy::{Toy, assert_covers};
    use super::*;
    use offnominal_core::Rng;

    const TOY: Toy = Toy { height: 0.5, decay: 18.0 };

    /// The chance √(f / height), and its exact mean.
    fn chance(x: f64) -> f64 {
        (-9.0 * x).exp()
    }

    fn exact(value: f64) -> Estimate {
        Estimate { value, low: value, high: value, level: 1.0, n: 0, method: "exact".into() }
    }

    /// Planned numbers of plain and of guided experiments, in tenths of all.
    fn run(plain: usize, guided: usize, rng: &mut Rng) -> Pool {
        let share = plain as f64 / (plain + guided) as f64;
        let z = (1.0 - (-9.0_f64).exp()) / 9.0;
        let streams = vec![Stream::plain(share), Stream::guided(1.0 - share, exact(z))];
        let mut pool = Pool::new(streams).unwrap();
        for i in 0..plain + guided {
            let mut x = rng.uniform();
            // The streams take turns, so that both halves of the sample have both.
            while i % 10 >= 10 * plain / (plain + guided) && rng.uniform() >= chance(x) {
                x = rng.uniform();
            }
            pool.record(&[1.0, chance(x)], TOY.fails(x, rng));
        }
        pool
    }

    #[test]
    fn pooled_streams_cover_at_the_planned_total() {
        assert_covers(TOY.p(), |rng| run(300, 700, rng).estimate(Level::P95).unwrap());
    }

    #[test]
    fn weights_average_to_one_and_the_cross_check_agrees() {
        let pool = run(3000, 7000, &mut Rng::new(1));
        let diagnostics = pool.diagnostics().unwrap();
        assert_eq!(diagnostics.warnings(), []);
        assert!(diagnostics.mean_weight.covers(1.0), "{diagnostics:?}");
        let (ours, check) = (
            pool.normal(Level::try_from(0.99).unwrap()).unwrap(),
            pool.self_normalised(Level::try_from(0.99).unwrap()).unwrap(),
        );
        assert!(ours.covers(TOY.p()) && check.covers(TOY.p()), "{ours} {check}");
    }

    #[test]
    fn a_plain_stream_alone_is_counting() {
        let mut pool = Pool::new(vec![Stream::plain(1.0)]).unwrap();
        (0..200).for_each(|i| pool.record(&[1.0], i % 10 == 0));
        let found = pool.estimate(Level::P95).unwrap();
        let counted = super::super::counting::sequence(20, 200, Level::P95).unwrap();
        assert!(
            (found.value - 0.1).abs() < 1e-12
                && found.low > 0.8 * counted.low
                && found.high < 1.2 * counted.high
        );
    }

    #[test]
    fn impossible_pools_are_refused() {
        let message = Pool::new(vec![Stream::plain(0.7)]).unwrap_err().to_string();
        assert_eq!(message, "shares of the streams: expected a sum of 1, found 0.7");
        let streams = vec![Stream::plain(0.5), Stream::guided(0.5, exact(0.0))];
        assert!(Pool::new(streams).unwrap_err().to_string().contains("positive number"));
        let vague = Estimate { level: 0.9, ..exact(0.5) };
        let mut pool = Pool::new(vec![Stream::plain(0.5), Stream::guided(0.5, vague)]).unwrap();
        pool.record(&[1.0, 0.5], true);
        assert!(pool.estimate(Level::P95).unwrap_err().to_string().contains("level of the mean chances"));
    }
}
