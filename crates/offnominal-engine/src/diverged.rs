//! Episodes without an outcome: they are counted, told, and refused beyond what is allowed.

use anyhow::{Result, ensure};
use offnominal_core::divergence::Divergence;
use offnominal_core::episode::{Episode, Outcome};
use offnominal_core::spec::EnvSpec;
use serde::Serialize;
use std::fmt::{self, Display, Formatter};

/// How many of some episodes diverged, and why the first of them did.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Diverged {
    /// Episodes without an outcome.
    pub episodes: usize,
    /// Episodes in all.
    pub of: usize,
    /// The first of them, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first: Option<String>,
}

impl Diverged {
    /// Those among episodes in order, each with its steps and what broke it off.
    pub fn among(
        spec: &EnvSpec,
        episodes: impl IntoIterator<Item = (usize, Option<Divergence>)>,
    ) -> Diverged {
        let mut found = Diverged::default();
        for (i, (steps, divergence)) in episodes.into_iter().enumerate() {
            found.of += 1;
            let Some(why) = divergence else { continue };
            found.episodes += 1;
            found.first.get_or_insert_with(|| format!("episode {i}, {}", why.describe(spec, steps)));
        }
        found
    }

    /// Those among whole episodes.
    pub fn of(spec: &EnvSpec, episodes: &[Episode]) -> Diverged {
        Diverged::among(spec, episodes.iter().map(|e| (e.len(), e.diverged())))
    }

    /// Those among outcomes.
    pub fn of_outcomes(spec: &EnvSpec, outcomes: &[Outcome]) -> Diverged {
        Diverged::among(spec, outcomes.iter().map(|o| (o.steps, o.divergence)))
    }

    /// Why so many are not acceptable, if they are more than is allowed.
    pub fn beyond(&self, allowed: u64) -> Option<String> {
        (self.episodes as u64 > allowed).then(|| {
            format!("{self}; expected at most {allowed}, which --allow-diverged (allow_diverged) sets")
        })
    }

    /// Insists on no more than is allowed.
    ///
    /// # Errors
    /// If there are more; the message says why the first has no outcome.
    pub fn at_most(&self, allowed: u64) -> Result<()> {
        let why = self.beyond(allowed);
        ensure!(why.is_none(), "{}", why.unwrap_or_default());
        Ok(())
    }
}

impl Display for Diverged {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        write!(out, "{} of {} episodes diverged", self.episodes, self.of)?;
        self.first.as_ref().map_or(Ok(()), |first| write!(out, " and have no outcome, the first: {first}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use offnominal_core::divergence::NotFinite;
    use offnominal_core::spec::Channel;

    #[test]
    fn they_are_counted_and_the_first_is_explained() {
        let mut spec = EnvSpec::new("w", "a fixture");
        spec.observation = vec![Channel::unbounded("speed", "", "m/s")];
        let why = Divergence::Observation { at: 0, found: NotFinite::Nan };
        let found = Diverged::among(&spec, [(9, None), (4, Some(why)), (2, Some(Divergence::Environment))]);
        assert_eq!((found.episodes, found.of), (2, 3));
        assert!(found.at_most(2).is_ok());
        let refused = found.at_most(1).unwrap_err().to_string();
        assert!(refused.starts_with("2 of 3 episodes diverged"), "{refused}");
        assert!(refused.contains("episode 1, observation of step 4: channel speed is NaN"), "{refused}");
    }
}
