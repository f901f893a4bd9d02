//! `--shift`, `--sigma` and `--sample`: parameters that are drawn for each episode.

use anyhow::{Result, ensure};
use clap::Args;
use offnominal_core::prelude::*;
use offnominal_engine::randomisation as shifted;
use offnominal_engine::randomisation::Change;
use std::path::PathBuf;

/// Parameters that are drawn for each episode.
#[derive(Debug, Clone, Default, Args)]
pub struct Shifts {
    /// Draw these parameters of the world for each episode, around their nominal values; `limbs` for all sizes of a body
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub shift: Vec<String>,
    /// Their standard deviation, relative to the nominal values [default: 0.1]
    #[arg(long, value_name = "S", requires = "shift")]
    pub sigma: Option<f64>,
    /// Take the parameters of each episode from a row of this table instead, such as the bodies.csv of `shift`
    #[arg(long, value_name = "FILE", conflicts_with = "shift")]
    pub sample: Option<PathBuf>,
}

/// The return that is a failure.
#[derive(Debug, Clone, Default, Args)]
pub struct Below {
    #[command(flatten)]
    pub shifts: Shifts,
    /// With --shift or --sample: an episode fails if and only if its return is below this
    #[arg(long, value_name = "R", allow_negative_numbers = true)]
    pub below: Option<f64>,
}

/// The spread where none is given.
const SIGMA: f64 = 0.1;

impl Shifts {
    /// What is drawn in a world, if anything.
    ///
    /// # Errors
    /// If a parameter does not exist or the table cannot be read.
    pub fn change(&self, spec: &EnvSpec) -> Result<Option<Change>> {
        let draws = match &self.sample {
            Some(path) => shifted::listed(spec, path)?,
            None if self.shift.is_empty() => return Ok(None),
            None => shifted::around(spec, &self.shift, self.sigma.unwrap_or(SIGMA))?,
        };
        Ok(Some(Change { draws, least: None }))
    }

    /// The options as they are written, each after a blank.
    pub fn words(&self) -> String {
        let mut words = String::new();
        if !self.shift.is_empty() {
            words += &format!(" --shift {} --sigma {}", self.shift.join(","), self.sigma.unwrap_or(SIGMA));
        }
        if let Some(path) = &self.sample {
            words += &format!(" --sample {}", path.display());
        }
        words
    }
}

impl Below {
    /// Whether any of the options is there.
    pub fn is_given(&self) -> bool {
        !self.words().is_empty()
    }

    /// What is drawn in a world, if anything, and which return is then a failure.
    ///
    /// # Errors
    /// As [`Shifts::change`], or if a return is given and nothing is drawn.
    pub fn change(&self, spec: &EnvSpec) -> Result<Option<Change>> {
        let change = self.shifts.change(spec)?;
        ensure!(change.is_some() || self.below.is_none(), "--below: expected --shift or --sample with it");
        Ok(change.map(|change| Change { least: self.below, ..change }))
    }

    /// The options as they are written, each after a blank.
    pub fn words(&self) -> String {
        let below = self.below.map_or(String::new(), |r| format!(" --below {r}"));
        format!("{}{below}", self.shifts.words())
    }
}
