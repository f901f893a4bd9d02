//! Noise: a baseline that knows nothing.
//!
//! score(t, o, a, o′) = u(seed, t, o, a, o′), uniform on [0, 1).
//!
//! u is a hash of the seed of the fit, the count t of steps since `reset` and the bits of the transition. Hashing
//! instead of drawing makes the noise a function of what was seen, so a replayed episode gets the same scores,
//! streamed or not, in any order of episodes and on any thread, and it is still unrelated to anything nominal. Every
//! metric of this detector must contain chance within its interval.
//!
//! Assumes: nothing.
//! Blind to: everything.
//! Cost: fit O(n), score O(d).
//! Reference: none; it is this project's control. The hash is the finaliser of SplitMix64 (Steele, Lea and Flood,
//! OOPSLA 2014), by way of the seed tree.
//!
//! ```
//! use offnominal_core::detector::{Nominal, Signals};
//! use offnominal_core::Rng;
//! let observations: Vec<f32> = (0..10_001).map(|t| (t as f32).sin()).collect();
//! let episode = Signals::new(&observations, &[0.0; 10_000], 1, 1);
//! let random = offnominal_detectors::catalogue().build("random", &serde_json::json!({})).unwrap();
//! let mut scores = Vec::new();
//! random.fit(Nominal::new(&[episode], &[]), &mut Rng::new(0)).unwrap().score_episode(&episode, &mut scores);
//! let mean = scores.iter().sum::<f64>() / 1e4;
//! assert!((mean - 0.5).abs() < 4.0 / (12.0_f64.sqrt() * 100.0)); // four standard errors
//! ```

use crate::shared::prelude::*;
use crate::shared::scale::{Constant, Scale};

/// The recipe; it has no parameters.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Random {}

/// The entry of [`Random`].
pub const ENTRY: Entry<dyn Detector> = entry!(
    Random as dyn Detector,
    "random",
    "baseline: noise that depends on nothing nominal",
    exempt: &[(Law::SeesGrossFaults, "it is noise, on purpose")]
);

impl Detector for Random {
    fn fit(&self, Nominal { train, .. }: Nominal<'_>, rng: &mut Rng) -> Result<Box<dyn Scorer>, FitError> {
        check(train, 1)?;
        let (obs, _) = Scale::of_observations(train, Constant::Dropped);
        Ok(Box::new(Fitted { seed: Seed(rng.bits()), obs, action: Scale::of_actions(train), n_steps: 0 }))
    }

    fn load(&self, from: &Reader<'_>, _: Option<&dyn Policy>) -> Result<Box<dyn Scorer>, ArchiveError> {
        let obs = Scale::load(&from.part("obs"), from.obs_width)?;
        let action = Scale::load(&from.part("action"), from.act_width)?;
        Ok(Box::new(Fitted { seed: Seed(from.one("seed")?), obs, action, n_steps: 0 }))
    }
}

#[derive(Clone)]
struct Fitted {
    seed: Seed,
    /// Say which channels vary: the constant ones carry no information, not even for a hash.
    obs: Scale,
    action: Scale,
    n_steps: u64,
}

impl Scorer for Fitted {
    fn reset(&mut self) {
        self.n_steps = 0;
    }

    fn score(&mut self, seen: &Transition<'_>) -> f64 {
        self.n_steps += 1;
        let numbers = self.obs.select(seen.obs).chain(self.obs.select(seen.next_obs));
        let hash = numbers
            .chain(self.action.select(seen.action))
            .fold(self.seed.child(self.n_steps), |node, v| node.child(u64::from(v.to_bits())));
        (hash.0 >> 11) as f64 * 2.0_f64.powi(-53)
    }

    fn save(&self, to: &mut Writer<'_>) -> Result<(), ArchiveError> {
        to.put("seed", &[self.seed.0]);
        self.obs.save(&mut to.part("obs"));
        self.action.save(&mut to.part("action"));
        Ok(())
    }
}
