//! A test martingale that bets on small p-values and keeps a reserve.
//!
//! Three gamblers hold the capital. In each step everybody first gives a share J = 0.01 to a pot that is divided evenly,
//! then gambler ε ∈ {0, 1, 2} multiplies what he has by 1 + ε (½ − p), whose mean is 1 if p is uniform. Gambler 0 does
//! not bet, so after t steps the capital is never below ⅓ (1 − ⅔ J)ᵗ, and a change is found late as well as early.
//!
//! Reference: Vovk et al., "Retrain or not retrain: conformal test martingales for change-point detection", COPA 2021,
//! algorithm 1 (Simple Jumper). Deviates: bets on small p-values only, as a large score is what an anomaly brings.

/// Share of the capital that is divided evenly in each step.
const JUMP: f64 = 0.01;

/// What the gamblers stake.
const STAKES: [f64; 3] = [0.0, 1.0, 2.0];

/// The capital, as its logarithm and each gambler's share.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Jumper {
    log_capital: f64,
    shares: [f64; 3],
}

impl Default for Jumper {
    fn default() -> Self {
        Jumper { log_capital: 0.0, shares: [1.0 / 3.0; 3] }
    }
}

impl Jumper {
    /// Bets against a p-value in [0, 1] and returns the natural logarithm of the capital, which was 0 at first.
    pub fn bet(&mut self, p: f64) -> f64 {
        for (share, stake) in self.shares.iter_mut().zip(STAKES) {
            *share = ((1.0 - JUMP) * *share + JUMP / 3.0) * (1.0 + stake * (0.5 - p));
        }
        let total: f64 = self.shares.iter().sum();
        self.shares.iter_mut().for_each(|share| *share /= total);
        self.log_capital += libm::log(total);
        self.log_capital
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use offnominal_core::Seed;

    #[test]
    fn one_bet_in_closed_form() {
        // Each has a third: the capital becomes (1 + 1.4 + 1.8) / 3.
        assert!((Jumper::default().bet(0.1) - (4.2_f64 / 3.0).ln()).abs() < 1e-12);
        assert!(Jumper::default().bet(0.5).abs() < 1e-12);
        assert!((Jumper::default().bet(1.0) - 0.5_f64.ln()).abs() < 1e-12);
    }

    /// Mean capital after so many uniform p-values; each mapped by `map`.
    fn mean_capital(steps: usize, map: fn(f64) -> f64) -> (f64, f64) {
        let n = 20_000;
        let capital = |i: u64| {
            let (mut jumper, mut rng) = (Jumper::default(), Seed(i).rng());
            (0..steps).map(|_| jumper.bet(map(rng.uniform()))).last().unwrap().exp()
        };
        let all: Vec<f64> = (0..n).map(capital).collect();
        let mean = all.iter().sum::<f64>() / n as f64;
        let variance = all.iter().map(|c| (c - mean).powi(2)).sum::<f64>() / n as f64;
        (mean, (variance / n as f64).sqrt())
    }

    #[test]
    fn the_capital_is_a_martingale_of_uniform_p_values_only() {
        let is_fair = |(mean, error): (f64, f64)| (mean - 1.0).abs() < 4.0 * error;
        assert!(is_fair(mean_capital(6, |p| p)));
        // The law bites: p-values that are not smoothed at ties, here rounded down, are no p-values.
        assert!(!is_fair(mean_capital(6, |p| (p * 3.0).floor() / 3.0)));
    }

    #[test]
    fn a_long_wait_does_not_cost_the_reserve() {
        let mut jumper = Jumper::default();
        for t in 1..=1000 {
            let least = -(3.0_f64.ln()) + f64::from(t) * (1.0 - 2.0 / 3.0 * JUMP).ln();
            assert!(jumper.bet(1.0) >= least, "step {t}");
        }
        let waited = jumper.log_capital;
        assert!((0..100).map(|_| jumper.bet(0.05)).last().unwrap() > waited + 40.0);
    }
}
