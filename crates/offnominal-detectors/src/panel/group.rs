//! A group of members: the largest of their scores, on a scale of its own.

use super::scale::Scale;
use crate::fusion::Several;
use crate::shared::inner::{Inner, Scaled};
use crate::shared::prelude::*;
use serde_json::Value;

/// Deviation that is supposed of a member's largest ln s of an episode, and of a group's largest.
const SUPPOSED: (f64, f64) = (0.25, 1.0);
/// The least self-information: a step below all nominal ones has none.
const LEAST: f64 = 1e-3;

/// One group of detectors or more; a detector that is not in a list is a group for itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Vec<Value>", into = "Vec<Value>")]
pub struct Groups(Vec<Several>);

impl Groups {
    /// In the order in which they were named.
    pub(super) fn all(&self) -> &[Several] {
        &self.0
    }
}

impl TryFrom<Vec<Value>> for Groups {
    type Error = String;

    fn try_from(groups: Vec<Value>) -> Result<Self, String> {
        let group = |value| match value {
            Value::Array(_) => serde_json::from_value(value).map_err(|e| e.to_string()),
            alone => Ok(Several::try_from(vec![Inner::try_from(alone)?])?),
        };
        let groups = groups.into_iter().map(group).collect::<Result<Vec<Several>, String>>()?;
        if groups.is_empty() {
            Err("expected one detector or more, found none".into())
        } else {
            Ok(Groups(groups))
        }
    }
}

impl From<Groups> for Vec<Value> {
    fn from(groups: Groups) -> Self {
        let group = |several: Several| {
            let mut all: Vec<Value> = Vec::<Inner>::from(several).into_iter().map(Value::from).collect();
            if all.len() == 1 { all.remove(0) } else { Value::Array(all) }
        };
        groups.0.into_iter().map(group).collect()
    }
}

/// A detector with the scale of its largest ln s of an episode.
#[derive(Clone)]
struct Member {
    scaled: Scaled,
    scale: Scale,
}

impl Member {
    /// The largest of an episode, given the largest self-information.
    fn of(scale: Scale, self_information: f64) -> f64 {
        scale.of(libm::log(self_information.max(LEAST)))
    }
}

/// Members with the scale of the largest of all in an episode.
#[derive(Clone)]
pub(super) struct Group {
    members: Vec<Member>,
    scale: Scale,
    /// The member whose score was that of the last step.
    loudest: usize,
}

impl Group {
    /// Fits the members, and measures each episode with members that did not see it; so many deviations are subtracted from
    /// the scores.
    pub fn fit(recipes: &Several, nominal: Nominal<'_>, seed: Seed, penalty: f64) -> Result<Group, FitError> {
        let all = recipes.all();
        let mut group = Vec::new();
        let one = |(k, inner): (usize, &Inner)| {
            let progress = nominal.progress.part(k, all.len());
            let (scaled, largest) = inner.cross_fit(nominal.with_progress(progress), seed.child(k))?;
            let logs: Vec<f64> = largest.iter().map(|s| libm::log(s.max(LEAST))).collect();
            let scale = Scale::fit(&logs, SUPPOSED.0);
            group.resize(largest.len(), f64::NEG_INFINITY);
            group.iter_mut().zip(&largest).for_each(|(z, s)| *z = z.max(Member::of(scale, *s)));
            Ok(Member { scaled, scale })
        };
        let members = all.iter().enumerate().map(one).collect::<Result<_, FitError>>()?;
        Ok(Group { members, scale: Scale::fit(&group, SUPPOSED.1).less(penalty), loudest: 0 })
    }

    /// Reads what [`Group::save`] wrote.
    pub fn load(
        recipes: &Several,
        from: &Reader<'_>,
        policy: Option<&dyn Policy>,
    ) -> Result<Group, ArchiveError> {
        let one = |(k, inner): (usize, &Inner)| {
            let part = from.part("inner");
            let part = part.part(k);
            Ok(Member { scaled: inner.load(&part, policy)?, scale: Scale::load(&part.part("scale"))? })
        };
        let members = recipes.all().iter().enumerate().map(one).collect::<Result<_, ArchiveError>>()?;
        Ok(Group { members, scale: Scale::load(&from.part("scale"))?, loudest: 0 })
    }

    pub fn save(&self, to: &mut Writer<'_>) -> Result<(), ArchiveError> {
        self.scale.save(&mut to.part("scale"));
        self.members.iter().enumerate().try_for_each(|(k, Member { scaled, scale })| {
            let mut part = to.part("inner");
            let mut part = part.part(k);
            scale.save(&mut part.part("scale"));
            scaled.save(&mut part)
        })
    }

    pub fn reset(&mut self) {
        self.members.iter_mut().for_each(|m| m.scaled.reset());
    }

    pub fn score(&mut self, seen: &Transition<'_>) -> f64 {
        let scores = self.members.iter_mut().map(|m| Member::of(m.scale, m.scaled.score(seen)));
        let (loudest, score) = largest(scores);
        self.loudest = loudest;
        self.scale.of(score)
    }

    /// The same with gaps; the confidence is that of the member that knows least.
    pub fn score_partial(&mut self, step: &Partial<'_>) -> PartialScore {
        let mut confidence = 1.0_f64;
        let scores = self.members.iter_mut().map(|m| {
            let found = m.scaled.score_partial(step);
            confidence = confidence.min(found.confidence);
            Member::of(m.scale, found.score)
        });
        let (loudest, score) = largest(scores);
        self.loudest = loudest;
        PartialScore { score: self.scale.of(score), confidence }
    }

    /// The parts of a score, as the loudest member divides its own.
    pub fn shares(&mut self, score: f64, shares: &mut [f64]) -> bool {
        self.members[self.loudest].scaled.shares(score, shares)
    }

    /// What spoke in the loudest member.
    pub fn evidence(&mut self) -> Option<Evidence> {
        self.members[self.loudest].scaled.evidence()
    }

    /// What the least able member does.
    pub fn missing(&self) -> Missing {
        self.members.iter().map(|m| m.scaled.missing()).max().unwrap_or(Missing::Held)
    }

    /// The last member that can has the last word.
    pub fn fill(&mut self, gaps: &mut Gaps<'_>) {
        self.members.iter_mut().for_each(|m| m.scaled.fill(gaps));
    }
}

/// The largest of some scores, and whose it is.
pub(super) fn largest(scores: impl Iterator<Item = f64>) -> (usize, f64) {
    let larger = |one: (usize, f64), other: (usize, f64)| if other.1 > one.1 { other } else { one };
    scores.enumerate().fold((0, f64::NEG_INFINITY), larger)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_detector_that_is_not_in_a_list_is_a_group_for_itself() {
        let written = json!([["knn", {"id": "mewma", "rate": 0.05}], "knn"]);
        let groups: Groups = serde_json::from_value(written.clone()).unwrap();
        assert_eq!(groups.all().iter().map(|g| g.all().len()).collect::<Vec<_>>(), [2, 1]);
        assert_eq!(serde_json::to_value(groups).unwrap(), written);
    }

    #[test]
    fn groups_that_are_none_are_refused() {
        for (written, want) in
            [(json!([]), "found none"), (json!([[]]), "found none"), (json!(["knm"]), "\"knn\"")]
        {
            let found = serde_json::from_value::<Groups>(written).unwrap_err().to_string();
            assert!(found.contains(want), "{found}");
        }
    }
}
