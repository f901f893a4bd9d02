//! Ranges of the options.

use super::{Alpha, ConfigError, Normalise, TrainConfig};

impl TrainConfig {
    /// Checks that every value lies in its range.
    ///
    /// # Errors
    /// Naming the first one that does not.
    pub(crate) fn check_ranges(&self) -> Result<(), ConfigError> {
        self.check_counts()?;
        self.check_numbers()
    }

    fn check_counts(&self) -> Result<(), ConfigError> {
        let counts: [(&'static str, u64); 13] = [
            ("steps", self.steps),
            ("batch", self.batch as u64),
            ("buffer", self.buffer as u64),
            ("train_every", self.train_every),
            ("gradient_steps", self.gradient_steps),
            ("n_envs", self.n_envs as u64),
            ("critics", self.critics as u64),
            ("quantiles", self.quantiles as u64),
            ("eval_every", self.eval_every),
            ("eval_episodes", self.eval_episodes as u64),
            ("policy_delay", self.policy_delay),
            ("epsilon_steps", self.epsilon_steps),
            ("target_every", self.target_every),
        ];
        for (name, n) in counts {
            require(n > 0, name, "a positive count", n)?;
        }
        let widths = format!("{:?}", self.hidden);
        require(self.hidden.iter().all(|&n| n > 0), "hidden", "positive widths", widths)?;
        let filters = format!("{:?}", self.filters);
        require(self.filters.as_flattened().iter().all(|&n| n > 0), "filters", "positive counts", filters)?;
        let pictures = !self.filters.is_empty();
        let (running, centred) = (self.normalise == Normalise::Running, self.normalise == Normalise::Centred);
        let sound = !(running && pictures);
        require(sound, "normalise", "none or centred where filters are given", "running")?;
        require(!centred || pictures, "normalise", "none or running without filters", "centred")?;
        let dropped = self.top_quantiles_to_drop;
        require(dropped < self.quantiles, "top_quantiles_to_drop", "fewer than quantiles", dropped)
    }

    fn check_numbers(&self) -> Result<(), ConfigError> {
        require(self.lr > 0.0 && self.lr.is_finite(), "lr", "a positive number", self.lr)?;
        require(self.tau > 0.0 && self.tau <= 1.0, "tau", "a number in (0, 1]", self.tau)?;
        let scale = self.reward_scale;
        require(scale > 0.0 && scale.is_finite(), "reward_scale", "a positive number", scale)?;
        require((0.0..1.0).contains(&self.gamma), "gamma", "a number in [0, 1)", self.gamma)?;
        let entropy = self.target_entropy.unwrap_or(0.0);
        require(entropy.is_finite(), "target_entropy", "a finite number", entropy)?;
        let used = self.alpha == Alpha::Auto || self.target_entropy.is_none();
        require(used, "target_entropy", "none where alpha is a number", entropy)?;
        let sizes = [
            ("imitation", self.imitation),
            ("exploration_noise", self.exploration_noise),
            ("policy_noise", self.policy_noise),
            ("noise_clip", self.noise_clip),
            ("prior", self.prior),
        ];
        for (name, size) in sizes {
            let sound = size >= 0.0 && size.is_finite();
            require(sound, name, "a finite number that is not negative", size)?;
        }
        let taught = self.imitation == 0.0 || self.demonstrations > 0;
        require(taught, "imitation", "0 without demonstrations", self.imitation)?;
        let heard = !self.advice || self.imitation > 0.0;
        require(heard, "advice", "false without imitation", self.advice)?;
        self.check_shares()
    }

    fn check_shares(&self) -> Result<(), ConfigError> {
        let share = (0.0..=1.0).contains(&self.epsilon_end);
        require(share, "epsilon_end", "a number in [0, 1]", self.epsilon_end)?;
        for (name, p) in [("dropout", self.dropout), ("dropconnect", self.dropconnect)] {
            require((0.0..1.0).contains(&p), name, "a number in [0, 1)", p)?;
        }
        let one = self.dropout == 0.0 || self.dropconnect == 0.0;
        require(one, "dropconnect", "0 where dropout is given", self.dropconnect)?;
        let whole = self.dropout == 0.0 && self.dropconnect == 0.0 && self.filters.is_empty();
        require(
            self.prior == 0.0 || whole,
            "prior",
            "0 where units or weights are dropped, or filters given",
            self.prior,
        )
    }
}

fn require(
    holds: bool,
    name: &'static str,
    expected: &'static str,
    found: impl ToString,
) -> Result<(), ConfigError> {
    if holds { Ok(()) } else { Err(ConfigError::Range { name, expected, found: found.to_string() }) }
}
