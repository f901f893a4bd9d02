//! What is asked: the world, what changes and how much, and how long each policy plays.

use anyhow::{Result, ensure};
use offnominal_core::Seed;
use offnominal_core::suggest::did_you_mean;
use offnominal_worlds::env::body::{Fall, Mass, Reading};
use serde::{Deserialize, Serialize};

/// A world and what changes in it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Setting {
    /// The world.
    pub env: String,
    /// What is drawn: `limbs`, and factors of the world.
    pub shifts: Vec<String>,
    /// What the numbers of lengths mean.
    pub reading: Reading,
    /// What becomes of the mass.
    pub mass: Mass,
    /// What the fall test compares with.
    pub fall: Fall,
}

impl Setting {
    /// The factors that can be drawn beside the limbs.
    pub const FACTORS: [&'static str; 3] = ["mass", "ground-friction", "motor-strength"];
    /// Everything that can be drawn.
    pub const SHIFTS: [&'static str; 4] = ["limbs", "mass", "ground-friction", "motor-strength"];

    /// Limbs of true lengths whose mass follows, in a world.
    pub fn new(env: &str) -> Setting {
        Setting {
            env: env.into(),
            shifts: vec!["limbs".into()],
            reading: Reading::default(),
            mass: Mass::default(),
            fall: Fall::default(),
        }
    }

    /// Whether something is drawn.
    pub fn shifts(&self, what: &str) -> bool {
        self.shifts.iter().any(|s| s == what)
    }

    fn check(&self) -> Result<()> {
        for what in &self.shifts {
            let known = Setting::SHIFTS;
            let hint = did_you_mean(what, known.into_iter());
            ensure!(
                known.contains(&what.as_str()),
                "--shift {what}: there is no such shift{hint}; there are: {}",
                known.join(", ")
            );
        }
        Ok(())
    }
}

/// Everything that a run is made of besides the policies.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// The world and what changes in it.
    pub setting: Setting,
    /// The spreads.
    pub sigmas: Vec<f64>,
    /// Bodies of each spread.
    pub bodies: usize,
    /// Steps of each policy on each body.
    pub steps: usize,
    /// Runs at home of each policy, for the instruments.
    pub home_runs: usize,
    /// Gradient steps of the internal models.
    pub updates: u64,
    /// Detectors whose scores are set against the drop.
    pub detectors: Vec<String>,
    /// Root of everything random.
    pub seed: u64,
}

impl Plan {
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

    fn plan() -> Plan {
        Plan {
            setting: Setting::new("hopper"),
            sigmas: vec![0.1],
            bodies: 2,
            steps: 100,
            home_runs: 2,
            updates: 1,
            detectors: vec![],
            seed: 0,
        }
    }

    #[test]
    fn what_makes_no_sense_is_named() {
        let refusal = |plan: Plan| plan.check().unwrap_err().to_string();
        assert!(plan().check().is_ok());
        assert_eq!(
            refusal(Plan { sigmas: vec![0.1, -0.2], ..plan() }),
            "--sigma: expected numbers above 0 and up to 1, found -0.2"
        );
        let setting = Setting { shifts: vec!["limb".into()], ..Setting::new("ant") };
        assert!(refusal(Plan { setting, ..plan() }).contains("did you mean \"limbs\"?"));
        assert!(refusal(Plan { bodies: 1, ..plan() }).contains("--bodies: expected at least 2, found 1"));
    }
}
