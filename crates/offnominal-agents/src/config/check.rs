//! Ranges of the options.

use super::{Alpha, ConfigError, Normalise, TrainConfig};
use offnominal_core::limits;

/// An option that is a count, and the most that is accepted.
type Count = (&'static str, u64, u64);

/// The beginning of a list that may be long.
fn few_words(list: &impl std::fmt::Debug) -> String {
    let text = format!("{list:?}");
    if text.len() > 80 { text.chars().take(80).chain("…".chars()).collect() } else { text }
}

/// A rule that an option must keep: whether it does, the option, the rule in words, and the value.
type Rule = (bool, &'static str, &'static str, String);

impl TrainConfig {
    /// Checks that every value lies in its range.
    ///
    /// # Errors
    /// Naming the first one that does not.
    pub(crate) fn check_ranges(&self) -> Result<(), ConfigError> {
        let positive = |(name, n, _): Count| (n > 0, name, "a positive count", n.to_string());
        let few = |(name, n, most): Count| {
            (n <= most, name, "a count within its limit", format!("{n}, of at most {most}"))
        };
        let counts = self.counts().map(positive).into_iter().chain(self.counts().map(few));
        let counts = counts.chain(self.times().map(few));
        let rules = counts.chain(self.shapes()).chain(self.numbers()).chain(self.relations());
        match rules.into_iter().find(|(holds, ..)| !holds) {
            None => Ok(()),
            Some((_, name, expected, found)) => Err(ConfigError::Range { name, expected, found }),
        }
    }

    /// What must be at least one, with the most that is accepted.
    fn counts(&self) -> [Count; 13] {
        [
            ("steps", self.steps, limits::STEPS),
            ("batch", self.batch as u64, limits::BATCH as u64),
            ("buffer", self.buffer as u64, limits::TRANSITIONS),
            ("train_every", self.train_every, limits::STRIDE),
            ("gradient_steps", self.gradient_steps, limits::STRIDE),
            ("n_envs", self.n_envs as u64, limits::LANES),
            ("critics", self.critics as u64, limits::MEMBERS as u64),
            ("quantiles", self.quantiles as u64, limits::STATE as u64),
            ("eval_every", self.eval_every, limits::STEPS),
            ("eval_episodes", self.eval_episodes as u64, limits::EPISODES as u64),
            ("policy_delay", self.policy_delay, limits::STEPS),
            ("epsilon_steps", self.epsilon_steps, limits::STEPS),
            ("target_every", self.target_every, limits::STEPS),
        ]
    }

    /// What may be zero, with the most that is accepted.
    fn times(&self) -> [Count; 3] {
        [
            ("learning_starts", self.learning_starts, limits::STEPS),
            ("demonstrations", self.demonstrations, limits::STEPS),
            ("average", self.average, limits::STEPS),
        ]
    }

    fn shapes(&self) -> [Rule; 7] {
        let (images, filters) = (!self.filters.is_empty(), self.filters.as_flattened());
        let running = self.normalise == Normalise::Running && images;
        let centred = self.normalise == Normalise::Centred && !images;
        let dropped = self.top_quantiles_to_drop;
        let narrow = self.hidden.len() <= limits::LAYERS && self.hidden.iter().all(|&n| n <= limits::UNITS);
        let small = |&[kernel, stride, count]: &[usize; 3]| {
            kernel.max(stride) <= limits::FILTER && count <= limits::STATE
        };
        let small = self.filters.len() <= limits::LAYERS && self.filters.iter().all(small);
        [
            (narrow, "hidden", "at most 32 layers of at most 16384 units", few_words(&self.hidden)),
            (
                small,
                "filters",
                "at most 32 layers of at most 2048 filters, of 1024 pixels",
                few_words(&self.filters),
            ),
            (!self.hidden.contains(&0), "hidden", "positive widths", format!("{:?}", self.hidden)),
            (!filters.contains(&0), "filters", "positive counts", format!("{:?}", self.filters)),
            (!running, "normalise", "none or centred where filters are given", "running".into()),
            (!centred, "normalise", "none or running without filters", "centred".into()),
            (dropped < self.quantiles, "top_quantiles_to_drop", "fewer than quantiles", dropped.to_string()),
        ]
    }

    fn numbers(&self) -> [Rule; 14] {
        let positive = |name, x: f64| (x > 0.0 && x.is_finite(), name, "a positive number", x.to_string());
        let size = |name, x: f64| {
            (x >= 0.0 && x.is_finite(), name, "a finite number that is not negative", x.to_string())
        };
        let below = |name, x: f64| ((0.0..1.0).contains(&x), name, "a number in [0, 1)", x.to_string());
        let (tau, epsilon) = (self.tau, self.epsilon_end);
        let entropy = self.target_entropy.unwrap_or(0.0);
        let augmented = self.augment.values().all(|most| most.is_finite());
        [
            (augmented, "augment", "finite magnitudes", few_words(&self.augment)),
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
