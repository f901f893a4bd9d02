//! What is judged: the scores of one episode, its labels, and the scores of its nominal twin.

use crate::StatsError;

/// One scored episode. Step t has the score of the transition at t and says whether the anomaly was active in it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ScoredEpisode {
    /// Anomaly score of each step, `[T]`; larger means more anomalous.
    pub scores: Vec<f64>,
    /// Whether the anomaly was active in each step, `[T]`.
    pub labels: Vec<bool>,
    /// First anomalous step; `None` if the episode is nominal. May lie beyond the end.
    pub onset: Option<u32>,
    /// Scores of the nominal episode with the same seed and initial condition; its length may differ.
    pub twin: Option<Vec<f64>>,
    /// Whether the policy failed in the last step.
    pub fails: bool,
}

impl ScoredEpisode {
    /// An episode that is anomalous from `onset` to its end.
    pub fn persistent(scores: Vec<f64>, onset: u32, twin: Option<Vec<f64>>) -> ScoredEpisode {
        let labels = (0..scores.len()).map(|t| t >= onset as usize).collect();
        ScoredEpisode { scores, labels, onset: Some(onset), twin, fails: false }
    }

    /// A nominal episode, without twin.
    pub fn nominal(scores: Vec<f64>) -> ScoredEpisode {
        ScoredEpisode { labels: vec![false; scores.len()], scores, onset: None, twin: None, fails: false }
    }

    /// The first anomalous step, if it was reached before the episode ended.
    pub fn onset_reached(&self) -> Option<usize> {
        let onset = match self.onset {
            Some(onset) => onset as usize,
            None => self.labels.iter().position(|&anomalous| anomalous)?,
        };
        (onset < self.scores.len()).then_some(onset)
    }

    /// Checks that there is one label per score and that all scores are finite.
    ///
    /// # Errors
    /// Names the episode, what was expected and what was found; `index` is its position in the input.
    pub fn check(&self, index: usize) -> Result<(), StatsError> {
        let what = format!("labels of episode {index}");
        StatsError::same_length(what, self.scores.len(), self.labels.len())?;
        finite(&self.scores, index, false)?;
        self.twin.as_ref().map_or(Ok(()), |twin| finite(twin, index, true))
    }
}

/// Checks that all scores are finite.
pub(crate) fn finite(scores: &[f64], episode: usize, twin: bool) -> Result<(), StatsError> {
    match scores.iter().position(|s| !s.is_finite()) {
        Some(step) => Err(StatsError::NotFinite { episode, step, twin, found: scores[step] }),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn refuses(episode: ScoredEpisode, want: &str) {
        assert_eq!(episode.check(3).unwrap_err().to_string(), want);
    }

    #[test]
    fn bad_episodes_are_named() {
        let good = ScoredEpisode::persistent(vec![0.0, 1.0], 1, Some(vec![0.0]));
        assert_eq!(good.check(0), Ok(()));
        refuses(
            ScoredEpisode { labels: vec![true], ..good.clone() },
            "labels of episode 3: expected 2 values, found 1",
        );
        refuses(
            ScoredEpisode { scores: vec![0.0, f64::NAN], ..good.clone() },
            "episode 3, step 1: expected a finite score, found NaN",
        );
        refuses(
            ScoredEpisode { twin: Some(vec![f64::INFINITY]), ..good },
            "episode 3, step 0 of the twin: expected a finite score, found inf",
        );
    }

    #[test]
    fn an_onset_beyond_the_end_is_not_reached() {
        assert_eq!(ScoredEpisode::persistent(vec![0.0; 5], 5, None).onset_reached(), None);
        assert_eq!(ScoredEpisode::persistent(vec![0.0; 5], 4, None).onset_reached(), Some(4));
        assert_eq!(ScoredEpisode::nominal(vec![0.0; 5]).onset_reached(), None);
    }
}
