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

    /// Whether it has several stretches of anomalous steps, or one that ends before the episode does: then an alarm after
    /// the onset may have nothing to do with the anomaly.
    pub fn has_passing_events(&self) -> bool {
        self.labels.windows(2).any(|pair| pair[0] && !pair[1])
    }

    /// Its stretches of anomalous and of nominal steps, in order, each as an episode without twin: events of their own.
    pub fn stretches(&self) -> impl Iterator<Item = ScoredEpisode> + '_ {
        let mut at = 0;
        self.labels.chunk_by(|a, b| a == b).map(move |labels| {
            let scores = self.scores[at..at + labels.len()].to_vec();
            at += labels.len();
            let onset = labels[0].then_some(0);
            let fails = self.fails && at == self.scores.len();
            ScoredEpisode { scores, labels: labels.to_vec(), onset, twin: None, fails }
        })
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
    fn stretches_are_events_of_their_own() {
        let labels = [0, 1, 1, 0, 1].map(|x| x == 1).to_vec();
        let whole = ScoredEpisode {
            scores: vec![0.0, 1.0, 2.0, 3.0, 4.0],
            labels,
            onset: Some(1),
            ..Default::default()
        };
        let found: Vec<_> = whole.stretches().map(|e| (e.scores, e.onset)).collect();
        let (none, begin) = (None, Some(0));
        assert_eq!(
            found,
            [(vec![0.0], none), (vec![1.0, 2.0], begin), (vec![3.0], none), (vec![4.0], begin)]
        );
        assert!(whole.has_passing_events());
        assert!(!ScoredEpisode::persistent(vec![0.0; 3], 1, None).has_passing_events());
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
