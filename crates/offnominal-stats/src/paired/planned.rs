//! Two policies whose trials are independent and either succeed or fail, at most N of each: when is NEW shown to be better?
//!
//! The numbers of successes (x, y) of OLD and NEW after t trials of each are the state. At each t the states with y > x are
//! added to those that decide, in the order of their likelihood ratio
//!
//! ```text
//! LR = L(x/t, y/t) / L(p, p), p = (x + y) / 2t
//! ```
//!
//! as long as, for every success rate p that both may have, the probability to have decided by t is at most α t / N. What is
//! not spent is spent later. So the probability to decide falsely at any t is at most α; a plan of N buys, for that, what
//! the [betting sequence](super::betting) must keep for numbers beyond N.
//!
//! Assumes: independent trials, one success rate for each policy; N was stated before the first trial. With rates that differ
//! in the wrong direction the probability is smaller still. Rates are a grid of [`RATES`] points, even in the arcsine, on
//! which α is kept with 2 % to spare; a test looks between the points.
//! Cost: N³ states for each rate; N is at most [`MOST`].
//! Reference: Barnard, Biometrika 34, 1947, for the order of tables; Lan and DeMets, Biometrika 70(3), 1983, for error that
//! is spent by a function of time; Snyder et al., RSS 2025 (STEP), for the linear one. Deviates: nothing is randomised, and
//! the order is that of the likelihood ratio.

use std::f64::consts::PI;

/// The largest plan.
pub const MOST: usize = 200;
/// Success rates at which the error is counted.
pub const RATES: usize = 200;
/// The share of the error that is left for rates between those.
const SPARE: f64 = 0.02;

/// Which numbers of successes decide after each number of trials.
#[derive(Debug, Clone, PartialEq)]
pub struct Planned {
    /// After trial t + 1: the smallest number of successes of NEW that decides, for each of OLD.
    decides: Vec<Vec<usize>>,
}

impl Planned {
    /// The plan of at most `most` trials of each policy, with one-sided error α.
    ///
    /// # Panics
    /// If there are none, or more than [`MOST`].
    pub fn new(most: usize, alpha: f64) -> Planned {
        assert!((1..=MOST).contains(&most), "expected 1 to {MOST} trials, found {most}");
        let mut rates: Vec<Walk> = (1..=RATES)
            .map(|i| Walk::new((0.5 * PI * i as f64 / (RATES as f64 + 1.0)).sin().powi(2), most))
            .collect();
        let budget = (1.0 - SPARE) * alpha / most as f64;
        let step = |t: usize| {
            rates.iter_mut().for_each(|walk| walk.step(t));
            decide(t, budget * t as f64, &mut rates)
        };
        Planned { decides: (1..=most).map(step).collect() }
    }

    /// Trials of each policy that were planned.
    pub fn most(&self) -> usize {
        self.decides.len()
    }

    /// The number of pairs after which NEW is shown to be better, if it is; those beyond the plan are not looked at.
    pub fn first(&self, pairs: impl IntoIterator<Item = (bool, bool)>) -> Option<usize> {
        let (mut x, mut y) = (0, 0);
        let mut looks = pairs.into_iter().zip(&self.decides).map(|((old, new), decides)| {
            x += usize::from(old);
            y += usize::from(new);
            y >= decides[x]
        });
        looks.position(|decided| decided).map(|at| at + 1)
    }

    /// The probability to decide at any number of trials, with these success rates of OLD and NEW, and the expected number
    /// of trials of each.
    pub fn power(&self, old: f64, new: f64) -> (f64, f64) {
        let mut walk = Walk::of((old, new), self.most());
        let mut trials = 0.0;
        for (t, decides) in (1..).zip(&self.decides) {
            trials += 1.0 - walk.spent;
            walk.step(t);
            for (x, &least) in decides.iter().enumerate() {
                (least..=t).for_each(|y| walk.end(x, y));
            }
        }
        (walk.spent, trials)
    }
}

/// The states that decide after t trials: the best that are left for each x compete, until none fits.
fn decide(t: usize, budget: f64, rates: &mut [Walk]) -> Vec<usize> {
    let mut least = vec![t + 1; t + 1];
    let mut open: Vec<usize> = (0..t).collect();
    let ratios: Vec<f64> = (0..=t).map(|k| plogp(k, t)).collect();
    let ratio = |x: usize, y: usize| ratios[x] + ratios[y] - 2.0 * plogp(x + y, 2 * t);
    while let Some((at, _)) =
        open.iter().map(|&x| ratio(x, least[x] - 1)).enumerate().max_by(|a, b| a.1.total_cmp(&b.1))
    {
        let (x, y) = (open[at], least[open[at]] - 1);
        if rates.iter().all(|walk| walk.spent + walk.alive(x, y) <= budget) {
            rates.iter_mut().for_each(|walk| walk.end(x, y));
            least[x] = y;
        }
        if least[x] != y || y == x + 1 {
            open.swap_remove(at);
        }
    }
    least
}

/// q ln q + (1 − q) ln (1 − q) with q = k / n: the logarithm of the likelihood of k of n at its largest, for each trial.
fn plogp(k: usize, n: usize) -> f64 {
    let term = |k: usize| if k == 0 { 0.0 } else { k as f64 / n as f64 * (k as f64 / n as f64).ln() };
    term(k) + term(n - k)
}

/// The probabilities of the states that nothing has decided, and of decisions so far.
struct Walk {
    rates: (f64, f64),
    width: usize,
    alive: Vec<f64>,
    spent: f64,
}

impl Walk {
    fn new(p: f64, most: usize) -> Walk {
        Walk::of((p, p), most)
    }

    fn of(rates: (f64, f64), most: usize) -> Walk {
        let width = most + 1;
        let mut alive = vec![0.0; width * width];
        alive[0] = 1.0;
        Walk { rates, width, alive, spent: 0.0 }
    }

    fn alive(&self, x: usize, y: usize) -> f64 {
        self.alive[x * self.width + y]
    }

    /// One trial more of each policy, the t-th: from the largest state down, so that each is read before it is written.
    fn step(&mut self, t: usize) {
        let ((p, q), width) = (self.rates, self.width);
        let of = [(1.0 - p) * (1.0 - q), (1.0 - p) * q, p * (1.0 - q), p * q];
        for x in (0..=t).rev() {
            for y in (0..=t).rev() {
                let at = x * width + y;
                let below = |back: usize, is: bool| if is { self.alive[at - back] } else { 0.0 };
                self.alive[at] = of[0] * self.alive[at]
                    + of[1] * below(1, y > 0)
                    + of[2] * below(width, x > 0)
                    + of[3] * below(width + 1, x > 0 && y > 0);
            }
        }
    }

    fn end(&mut self, x: usize, y: usize) {
        let at = x * self.width + y;
        self.spent += std::mem::take(&mut self.alive[at]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_error_is_kept_at_every_rate() {
        let plan = Planned::new(30, 0.05);
        let most =
            (1..1000).map(|i| plan.power(f64::from(i) * 1e-3, f64::from(i) * 1e-3).0).fold(0.0, f64::max);
        assert!(most <= 0.05 && most > 0.045, "{most}");
        // In the wrong direction it is smaller.
        assert!(plan.power(0.6, 0.5).0 < plan.power(0.5, 0.5).0);
    }

    #[test]
    fn what_it_promises_is_what_it_does() {
        let plan = Planned::new(30, 0.05);
        let (power, trials) = plan.power(0.2, 0.7);
        let (mut rng, n) = (offnominal_core::Rng::new(1), 4000);
        let mut found = (0.0, 0.0);
        for _ in 0..n {
            let pairs: Vec<(bool, bool)> =
                (0..30).map(|_| (rng.uniform() < 0.2, rng.uniform() < 0.7)).collect();
            let first = plan.first(pairs);
            found.0 += f64::from(first.is_some());
            found.1 += first.unwrap_or(30) as f64;
        }
        let (share, mean) = (found.0 / f64::from(n), found.1 / f64::from(n));
        assert!(
            (share - power).abs() < 0.02 && (mean - trials).abs() < 0.4,
            "{share} {power} {mean} {trials}"
        );
    }

    #[test]
    fn all_against_none_decides_soon_and_equal_outcomes_never() {
        let plan = Planned::new(30, 0.05);
        assert!(plan.first([(false, true); 30]).unwrap() <= 7);
        assert_eq!(plan.first([(true, true); 30]), None);
        assert_eq!(plan.first([(true, false); 30]), None);
        assert_eq!(plan.most(), 30);
    }
}
