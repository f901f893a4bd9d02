//! Whether a seed repeats its episode: without that no twin is one, and nothing can be played again.

use anyhow::{Context, Result, bail};
use serde::Deserialize;

/// What `worker/repeats.py` found.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Repeats {
    verdict: Verdict,
    /// What differed first, in words; nothing where all was equal.
    found: String,
    /// Seconds that a fresh environment takes.
    secs: f64,
    /// The keys of `info` that held a truth or a number.
    pub(super) offered: Vec<String>,
    /// Whether another seed began the same episode.
    pub(super) alike: Alike,
}

/// When an episode is repeated.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Verdict {
    /// By `reset(seed)`.
    Always,
    /// By `reset(seed)` of an environment that was just made.
    Fresh,
    /// Never.
    Never,
}

/// Whether another seed begins the same episode.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Alike {
    /// It differs, or nobody has looked.
    #[default]
    No,
    /// It does, but what is drawn with the seed may decide something rare.
    SoFar,
    /// It does, and nothing is seen to be drawn.
    Yes,
}

impl Alike {
    /// What results say of it.
    pub(super) fn remark(self) -> &'static str {
        match self {
            Alike::No => "",
            _ => " Two different seeds began the same episode: episodes that are all the same count as one.",
        }
    }
}

impl Repeats {
    /// Reads what was found.
    ///
    /// # Errors
    /// If it is not what `worker/repeats.py` sends.
    pub(super) fn read(json: &[u8]) -> Result<Repeats> {
        serde_json::from_slice(json).context("what its process sent of the check of its seed")
    }

    /// Whether each episode needs a fresh environment, with what is to be said of that.
    ///
    /// # Errors
    /// If nothing repeats an episode.
    pub(super) fn advice(&self, environment: &str) -> Result<Option<String>> {
        let found = &self.found;
        match self.verdict {
            Verdict::Always => Ok(None),
            Verdict::Fresh => Ok(Some(format!(
                "environment {environment}: reset(seed) does not repeat an episode ({found}), but that of a fresh \
                 environment does. So each episode gets one, which takes about {:.0} ms; the option fresh=true says so \
                 from the beginning",
                1e3 * self.secs
            ))),
            Verdict::Never => bail!(
                "reset(seed) does not repeat an episode ({found}), nor does that of a fresh environment. Twins would \
                 differ before the onset, and no episode could be played again. Expected that all random numbers come \
                 from `self.np_random`, which reset(seed) seeds; the option check=false goes on without"
            ),
        }
    }
}

#[cfg(test)]
mod tests;
