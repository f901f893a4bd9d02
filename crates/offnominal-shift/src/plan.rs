//! What is asked: the environment, what changes and how much, and how long each policy plays.

use anyhow::{Result, ensure};
use offnominal_core::Seed;
use offnominal_core::suggest::did_you_mean;
use offnominal_worlds::env::body::{Fall, Mass, Reading};
use serde::{Deserialize, Serialize};

/// An environment and what changes in it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BodySetting {
    /// The environment.
    pub env: String,
    /// What is drawn: `limbs`, and factors of the environment.
    pub drawn: Vec<String>,
    /// What the numbers of lengths mean.
    pub reading: Reading,
    /// What becomes of the mass.
    pub mass: Mass,
    /// What the fall test compares with.
    pub fall: Fall,
}

impl BodySetting {
    /// The factors that can be drawn beside the limbs.
    pub const FACTORS: [&'static str; 3] = ["mass", "ground-friction", "motor-strength"];
    /// Everything that can be drawn.
    pub const PARAMETERS: [&'static str; 4] = ["limbs", "mass", "ground-friction", "motor-strength"];

    /// Limbs of true lengths whose mass follows, in an environment.
    #[cfg(test)]
    pub fn new(env: &str) -> BodySetting {
        BodySetting {
            env: env.into(),
            drawn: vec!["limbs".into()],
            reading: Reading::default(),
            mass: Mass::default(),
            fall: Fall::default(),
        }
    }

    /// Whether a parameter is drawn.
    pub fn draws(&self, what: &str) -> bool {
        self.drawn.iter().any(|s| s == what)
    }

    fn check(&self) -> Result<()> {
        for what in &self.drawn {
            let known = BodySetting::PARAMETERS;
            let hint = did_you_mean(what, known.into_iter());
            ensure!(
                known.contains(&what.as_str()),
                "randomise: there is no parameter {what:?}{hint}; there are: {}",
                known.join(", ")
            );
        }
        Ok(())
    }
}

/// Everything that a run is made of besides the policies.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ShiftPlan {
    /// The environment and what changes in it.
    pub setting: BodySetting,
    /// The spreads.
    pub sigmas: Vec<f64>,
    /// Bodies of each spread.
    pub bodies: usize,
    /// Steps of each policy on each body.
    pub steps: usize,
    /// Nominal runs of each policy, for the predictors.
    pub nominal_runs: usize,
    /// Gradient steps of the internal models.
    pub updates: u64,
    /// Detectors whose scores are set against the return gap.
    pub detectors: Vec<String>,
    /// Root of everything random.
    pub seed: u64,
}

impl ShiftPlan {
    /// Refuses what makes no sense.
    ///
    /// # Errors
    /// Naming the option.
    pub fn check(&self) -> Result<()> {
        self.setting.check()?;
        ensure!(!self.sigmas.is_empty(), "--sigma: expected at least one spread");
        for &sigma in &self.sigmas {
            ensure!(
                sigma > 0.0 && sigma <= 1.0,
                "--sigma: expected numbers above 0 and up to 1, found {sigma}"
            );
        }
        ensure!(self.bodies >= 2, "--bodies: expected at least 2, found {}", self.bodies);
        ensure!(self.steps >= 100, "--steps: expected at least 100, found {}", self.steps);
        Ok(())
    }

    /// The root of everything random.
    pub fn root(&self) -> Seed {
        Seed(self.seed).child("shift")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan() -> ShiftPlan {
        ShiftPlan {
            setting: BodySetting::new("hopper"),
            sigmas: vec![0.1],
            bodies: 2,
            steps: 100,
            nominal_runs: 2,
            updates: 1,
            detectors: vec![],
            seed: 0,
        }
    }

    #[test]
    fn what_makes_no_sense_is_named() {
        let refusal = |plan: ShiftPlan| plan.check().unwrap_err().to_string();
        assert!(plan().check().is_ok());
        assert_eq!(
            refusal(ShiftPlan { sigmas: vec![0.1, -0.2], ..plan() }),
            "--sigma: expected numbers above 0 and up to 1, found -0.2"
        );
        let setting = BodySetting { drawn: vec!["limb".into()], ..BodySetting::new("ant") };
        assert!(refusal(ShiftPlan { setting, ..plan() }).contains("did you mean \"limbs\"?"));
        assert!(
            refusal(ShiftPlan { bodies: 1, ..plan() }).contains("--bodies: expected at least 2, found 1")
        );
    }
}
