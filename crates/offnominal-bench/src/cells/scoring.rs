//! From episodes to scored episodes: a fitted monitor runs over anomalous episodes and their twins.

use crate::cells::cell::{Detecting, Judgement, Role};
use crate::cells::play::load;
use crate::cells::tell::Tell;
use crate::images::panels::{self, Shown};
use crate::results::Panel;
use anyhow::Result;
use offnominal_core::prelude::*;
use offnominal_engine::frames::FrameSize;
use offnominal_engine::subject::Subject;
use offnominal_engine::{catalogues, frames as replaying, memory};
use offnominal_files::dataset::Dataset;
use offnominal_files::store::Store;
use offnominal_stats::ScoredEpisode;

/// The scores of everything nominal, and the monitor that gave them.
pub(super) struct Scored {
    pub fitted: Fitted,
    /// Episodes that set thresholds, `[n][T]`.
    pub validation: Vec<Vec<f64>>,
    /// Twins of the test episodes, `[n][T]`.
    pub twins: Vec<Vec<f64>>,
    /// Nominal episodes that are judged as if they were anomalous.
    pub control: Vec<ScoredEpisode>,
    /// Seconds per step.
    pub dt_secs: f64,
    /// Steps after which an episode ends.
    pub horizon: u32,
}

/// A fitted detector, of sensors or of images.
pub(super) enum Fitted {
    /// Of what the policy reads.
    Vector(Box<dyn Scorer>),
    /// Of what a camera sees.
    Images(Box<dyn ImageScorer>, FrameSize),
}

impl Fitted {
    /// The scores of episodes; for images they are played again.
    fn scores(&self, subject: &Subject, episodes: &[Episode]) -> Result<Vec<Vec<f64>>> {
        match self {
            Fitted::Vector(monitor) => Ok(score_all(monitor.fork().as_mut(), episodes)),
            Fitted::Images(monitor, frame_size) => {
                let mut monitor = monitor.fork();
                let score = |e| Ok(monitor.score_video(&subject.video(e, *frame_size)?));
                episodes.iter().map(score).collect()
            }
        }
    }
}

/// Fits the detector, which may look inside the policy or at images, and scores the nominal episodes.
pub(super) fn fit(cell: &Judgement, subject: &Subject, store: &Store, tell: Tell<'_>) -> Result<Scored> {
    let train = load(store, &cell.train)?;
    let validation = load(store, &cell.validation)?;
    let fitted = fitted(cell, subject, [&train, &validation], tell)?;
    tell.say("nominal episodes");
    let thresholds = cell.thresholds.as_ref().map(|cell| load(store, cell)).transpose()?;
    let validation = fitted.scores(subject, &thresholds.unwrap_or(validation).episodes)?;
    let twins = fitted.scores(subject, &load(store, &cell.twins)?.episodes)?;
    let control = load(store, &cell.control)?;
    let scores = fitted.scores(subject, &control.episodes)?;
    let control = control.episodes.iter().zip(scores).zip(&twins).map(|((episode, scores), twin)| {
        controlled(scores, twin, &cell.schedule, episode.seed.child(<&str>::from(Role::Control)))
    });
    Ok(Scored {
        control: control.collect(),
        validation,
        twins,
        fitted,
        dt_secs: train.recipe.dt_secs,
        horizon: train.recipe.horizon,
    })
}

fn fitted(cell: &Judgement, subject: &Subject, data: [&Dataset; 2], tell: Tell<'_>) -> Result<Fitted> {
    let (detecting, seed) = (&cell.detector, cell.setup.seed);
    let Some(frame_size) = cell.frame_size else {
        return Ok(Fitted::Vector(monitor(detecting, seed, subject.policy.as_ref(), data, tell)?));
    };
    let detector = catalogues::image_detectors().build(&detecting.id, &detecting.params)?;
    let steps = data.iter().flat_map(|d| &d.episodes).map(Episode::len).sum();
    let episodes = data.iter().map(|d| d.episodes.len()).sum();
    let needed = replaying::bytes_for(frame_size, episodes, steps);
    memory::ensure_fits(needed, memory::available(), "the videos of the nominal episodes")?;
    tell.say("videos");
    let videos = |data: &Dataset| data.episodes.iter().map(|e| subject.video(e, frame_size)).collect();
    let [train, validation]: [Result<Vec<_>>; 2] = [videos(data[0]), videos(data[1])];
    let mut rng = Seed(seed).child("fit").child(detecting.seed_label()).rng();
    let (train, validation) = (train?, validation?);
    let fitted = tell.fit(|progress| detector.fit(&train, &validation, &mut rng, progress))?;
    Ok(Fitted::Images(fitted, frame_size))
}

/// A nominal episode that is judged against another one as if an anomaly began in it. The onset lies in the shorter of
/// the two, so that they could change places; drawn from one alone it would find that one nearer to its end.
fn controlled(scores: Vec<f64>, twin: &[f64], schedule: &Schedule, seed: Seed) -> ScoredEpisode {
    let onset = schedule.draw_onset(scores.len().min(twin.len()), &mut seed.rng());
    let labels = (0..scores.len()).map(|t| schedule.extent.is_active(t as u32, onset)).collect();
    ScoredEpisode { scores, labels, onset: Some(onset), twin: Some(twin.to_vec()), fails: false }
}

/// The monitor of a detector.
pub(super) fn monitor(
    detecting: &Detecting,
    seed: u64,
    policy: &dyn Policy,
    [train, validation]: [&Dataset; 2],
    tell: Tell<'_>,
) -> Result<Box<dyn Scorer>> {
    let detector = catalogues::detectors().build(&detecting.id, &detecting.params)?;
    let mut rng = Seed(seed).child("fit").child(detecting.seed_label()).rng();
    let (train, validation) = (signals(train), signals(validation));
    let nominal = Nominal::new(&train, &validation).with_policy(policy);
    tell.fit(|progress| detector.fit(nominal.with_progress(progress), &mut rng))
}

pub(super) fn signals(dataset: &Dataset) -> Vec<Signals<'_>> {
    dataset.episodes.iter().map(Episode::signals).collect()
}

pub(super) fn score_all(monitor: &mut dyn Scorer, episodes: &[Episode]) -> Vec<Vec<f64>> {
    monitor.score_episodes(&episodes.iter().map(Episode::signals).collect::<Vec<_>>())
}

/// Scores anomalous episodes and pairs them with their twins.
pub(super) fn anomalous(
    scored: &Scored,
    cell: &str,
    subject: &Subject,
    store: &Store,
) -> Result<Vec<ScoredEpisode>> {
    let dataset = load(store, cell)?;
    let scores = scored.fitted.scores(subject, &dataset.episodes)?;
    let pairs = dataset.episodes.into_iter().zip(scores).zip(&scored.twins);
    Ok(pairs
        .map(|((episode, scores), twin)| ScoredEpisode {
            scores,
            labels: episode.labels,
            onset: episode.onset,
            twin: Some(twin.clone()),
            fails: episode.end == End::Failed,
        })
        .collect())
}

/// What a detector of images saw in one of those episodes; nothing of a detector of sensors.
pub(super) fn panel(
    scored: &Scored,
    cell: &str,
    (subject, store): (&Subject, &Store),
    shown: &Shown<'_>,
) -> Result<Option<Panel>> {
    let Fitted::Images(monitor, frame_size) = &scored.fitted else { return Ok(None) };
    let episode = &load(store, cell)?.episodes[shown.episode as usize];
    let video = subject.video(episode, *frame_size)?;
    let mut monitor = monitor.fork();
    let scores = monitor.score_video(&video);
    panels::panel(monitor.as_mut(), &video, &scores, shown)
}

#[cfg(test)]
mod tests {
    use super::*;
    use offnominal_core::schedule::{Extent, Onset};
    use offnominal_stats::{Bootstrap, Level, Mode, detection};

    /// Scores that rise towards the end of an episode, whenever that is.
    fn rising(rng: &mut Rng) -> Vec<f64> {
        let steps = 4 + rng.below(60);
        (0..steps).map(|t| t as f64 / steps as f64).collect()
    }

    #[test]
    fn control_and_twin_could_change_places() {
        let mut rng = Rng::new(3);
        let schedule = Schedule { onset: Onset::Random, extent: Extent::ToEnd };
        let pair = |i: u64| controlled(rising(&mut rng), &rising(&mut rng), &schedule, Seed(i));
        let episodes: Vec<_> = (0..4000).map(pair).collect();
        let found = detection(&episodes, Mode::Matched, &Bootstrap::new(50, Level::P95, Seed(1))).unwrap();
        assert!((found.auroc.value - 0.5).abs() < 0.015, "{}", found.auroc.value);
    }
}
