//! Ranges of the options.

use super::{Alpha, ConfigError, Normalise, TrainConfig};

/// A rule that an option must keep: whether it does, the option, the rule in words, and the value.
type Rule = (bool, &'static str, &'static str, String);

impl TrainConfig {
    /// Checks that every value lies in its range.
    ///
    /// # Errors
    /// Naming the first one that does not.
    pub(crate) fn check_ranges(&self) -> Result<(), ConfigError> {
        let counts = self.counts().map(|(name, n)| (n > 0, name, "a positive count", n.to_string()));
        let rules = counts.into_iter().chain(self.shapes()).chain(self.numbers()).chain(self.relations());
        match rules.into_iter().find(|(holds, ..)| !holds) {
            None => Ok(()),
            Some((_, name, expected, found)) => Err(ConfigError::Range { name, expected, found }),
        }
    }

    fn counts(&self) -> [(&'static str, u64); 13] {
        [
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
        ]
    }

    fn shapes(&self) -> [Rule; 5] {
        let (images, filters) = (!self.filters.is_empty(), self.filters.as_flattened());
        let running = self.normalise == Normalise::Running && images;
        let centred = self.normalise == Normalise::Centred && !images;
        let dropped = self.top_quantiles_to_drop;
        [
            (!self.hidden.contains(&0), "hidden", "positive widths", format!("{:?}", self.hidden)),
            (!filters.contains(&0), "filters", "positive counts", format!("{:?}", self.filters)),
            (!running, "normalise", "none or centred where filters are given", "running".into()),
            (!centred, "normalise", "none or running without filters", "centred".into()),
            (dropped < self.quantiles, "top_quantiles_to_drop", "fewer than quantiles", dropped.to_string()),
        ]
    }

    fn numbers(&self) -> [Rule; 13] {
        let positive = |name, x: f64| (x > 0.0 && x.is_finite(), name, "a positive number", x.to_string());
        let size = |name, x: f64| {
            (x >= 0.0 && x.is_finite(), name, "a finite number that is not negative", x.to_string())
        };
        let below = |name, x: f64| ((0.0..1.0).contains(&x), name, "a number in [0, 1)", x.to_string());
        let (tau, epsilon) = (self.tau, self.epsilon_end);
        let entropy = self.target_entropy.unwrap_or(0.0);
        [
            positive("lr", self.lr),
            (tau > 0.0 && tau <= 1.0, "tau", "a number in (0, 1]", tau.to_string()),
            positive("reward_scale", self.reward_scale),
            below("gamma", self.gamma),
            (entropy.is_finite(), "target_entropy", "a finite number", entropy.to_string()),
            size("imitation", self.imitation),
            size("exploration_noise", self.exploration_noise),
            size("policy_noise", self.policy_noise),
            size("noise_clip", self.noise_clip),
            size("prior", self.prior),
            ((0.0..=1.0).contains(&epsilon), "epsilon_end", "a number in [0, 1]", epsilon.to_string()),
            below("dropout", self.dropout),
            below("dropconnect", self.dropconnect),
        ]
    }

    /// Options that others exclude.
    fn relations(&self) -> [Rule; 5] {
        let entropy = self.alpha == Alpha::Auto || self.target_entropy.is_none();
        let taught = self.imitation == 0.0 || self.demonstrations > 0;
        let advised = !self.advice || self.imitation > 0.0;
        let single = self.dropout == 0.0 || self.dropconnect == 0.0;
        let whole = self.dropout == 0.0 && self.dropconnect == 0.0 && self.filters.is_empty();
        let no_prior = "0 where units or weights are dropped, or filters given";
        let found = self.target_entropy.unwrap_or(0.0).to_string();
        [
            (entropy, "target_entropy", "none where alpha is a number", found),
            (taught, "imitation", "0 without demonstrations", self.imitation.to_string()),
            (advised, "advice", "false without imitation", self.advice.to_string()),
            (single, "dropconnect", "0 where dropout is given", self.dropconnect.to_string()),
            (self.prior == 0.0 || whole, "prior", no_prior, self.prior.to_string()),
        ]
    }
}
