//! Laws of detectors and the monitors they become.

use super::{Law, Verdicts, Violation};
use crate::detector::{Detector, Monitor, Signals};
use crate::{Rng, Seed};

/// Checks a detector on small synthetic episodes. Give it a recipe with few epochs: it is fitted six times.
///
/// # Panics
/// If it cannot be fitted on sound data.
pub fn detector(detector: &dyn Detector, exempt: &[(Law, &'static str)]) -> Vec<Violation> {
    let mut verdicts = Verdicts::new(exempt);
    let train = nominal_episodes(Seed(1), 12, 40);
    let probe = &nominal_episodes(Seed(2), 2, 40);
    let mut monitor = fit(detector, &train);

    let scores: Vec<Vec<f64>> = probe.iter().map(|e| batch(monitor.as_mut(), e)).collect();
    let all_finite = scores.iter().flatten().all(|s| s.is_finite());
    verdicts.require(Law::IsFinite, all_finite, || "a nominal score is not finite".into());
    verdicts.require(
        Law::SameSeedSameBits,
        scores[0] == batch(fit(detector, &train).as_mut(), &probe[0]),
        || "two fits with the same seed score differently".into(),
    );
    verdicts.require(Law::ForkSharesFuture, scores[0] == batch(monitor.fork().as_mut(), &probe[0]), || {
        "a forked monitor scores differently".into()
    });
    verdicts.require(
        Law::StreamedEqualsBatch,
        close(&scores[0], &stream(monitor.as_mut(), &probe[0])),
        || "streamed scores differ from those of the whole episode by more than 1e-5".into(),
    );
    stream(monitor.as_mut(), &probe[1]);
    verdicts.require(Law::ResetForgets, close(&scores[0], &batch(monitor.as_mut(), &probe[0])), || {
        "scores depend on the episode before".into()
    });
    ignores_constant_channels(detector, &train, &probe[0], &mut verdicts);
    sees_gross_faults(monitor.as_mut(), &probe[0], &scores[0], &mut verdicts);
    refuses_bad_data(detector, &train, &mut verdicts);
    verdicts.found
}

/// One synthetic episode: three observation channels driven by one command, with a little noise.
#[derive(Debug, Clone)]
pub struct Synthetic {
    observations: Vec<f32>,
    actions: Vec<f32>,
    obs_width: usize,
}

impl Synthetic {
    /// What a detector sees of it.
    pub fn signals(&self) -> Signals<'_> {
        Signals::new(&self.observations, &self.actions, self.obs_width, 1)
    }

    /// The same episode with one more channel that is constant.
    fn with_constant(&self, value: f32) -> Synthetic {
        let wider = self.observations.chunks_exact(self.obs_width).flat_map(|row| [row, &[value]].concat());
        Synthetic {
            observations: wider.collect(),
            actions: self.actions.clone(),
            obs_width: self.obs_width + 1,
        }
    }

    /// The same episode with a sensor that jumps to far away at half time and flutters there.
    fn broken(&self) -> Synthetic {
        let mut broken = self.clone();
        let half = self.observations.len() / self.obs_width / 2;
        for (t, row) in broken.observations.chunks_exact_mut(self.obs_width).enumerate().skip(half) {
            row.fill(if t % 2 == 0 { 60.0 } else { -60.0 });
        }
        broken
    }
}

/// Nominal episodes of a stable linear system under a random command; for laws and benchmarks.
pub fn nominal_episodes(seed: Seed, n_episodes: usize, steps: usize) -> Vec<Synthetic> {
    (0..n_episodes).map(|i| nominal_episode(&mut seed.child(i).rng(), steps)).collect()
}

fn nominal_episode(rng: &mut Rng, steps: usize) -> Synthetic {
    let mut x = [rng.normal(), rng.normal(), rng.normal()];
    let mut episode = Synthetic { observations: vec![], actions: vec![], obs_width: 3 };
    episode.observations.extend(x.map(|v| v as f32));
    for _ in 0..steps {
        let a = rng.range(-1.0, 1.0);
        let noise = [rng.normal(), rng.normal(), rng.normal()].map(|z| 0.02 * z);
        x = [
            0.9 * x[0] + 0.2 * x[1] + noise[0],
            -0.2 * x[0] + 0.9 * x[1] + 0.3 * a + noise[1],
            0.8 * x[2] + 0.5 * a + noise[2],
        ];
        episode.actions.push(a as f32);
        episode.observations.extend(x.map(|v| v as f32));
    }
    episode
}

fn fit(detector: &dyn Detector, train: &[Synthetic]) -> Box<dyn Monitor> {
    let views: Vec<_> = train.iter().map(Synthetic::signals).collect();
    let (train, validation) = views.split_at(views.len() - 2);
    detector.fit(train, validation, &mut Rng::new(7)).expect("sound data must be accepted")
}

fn batch(monitor: &mut dyn Monitor, episode: &Synthetic) -> Vec<f64> {
    let mut scores = Vec::new();
    monitor.score_episode(&episode.signals(), &mut scores);
    scores
}

fn stream(monitor: &mut dyn Monitor, episode: &Synthetic) -> Vec<f64> {
    monitor.reset();
    episode.signals().transitions().map(|t| monitor.score(&t)).collect()
}

fn close(a: &[f64], b: &[f64]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(x, y)| (x - y).abs() <= 1e-5 * x.abs().max(y.abs()).max(1e-6))
}

fn ignores_constant_channels(
    d: &dyn Detector,
    train: &[Synthetic],
    probe: &Synthetic,
    verdicts: &mut Verdicts<'_>,
) {
    let wider: Vec<_> = train.iter().map(|e| e.with_constant(5.0)).collect();
    let mut monitor = fit(d, &wider);
    let (same, moved) = (
        batch(monitor.as_mut(), &probe.with_constant(5.0)),
        batch(monitor.as_mut(), &probe.with_constant(5.001)),
    );
    verdicts.require(Law::IgnoresConstantChannels, same.iter().chain(&moved).all(|s| s.is_finite()), || {
        "a score is not finite".into()
    });
    verdicts.require(Law::IgnoresConstantChannels, close(&same, &moved), || {
        "moving a channel that was constant in training changes the scores".into()
    });
}

fn sees_gross_faults(
    monitor: &mut dyn Monitor,
    probe: &Synthetic,
    nominal: &[f64],
    verdicts: &mut Verdicts<'_>,
) {
    let broken = batch(monitor, &probe.broken());
    let mean = |scores: &[f64]| scores.iter().sum::<f64>() / scores.len() as f64;
    let (before, after) = (mean(&nominal[nominal.len() / 2..]), mean(&broken[broken.len() / 2..]));
    verdicts.require(Law::SeesGrossFaults, after > before, || {
        format!("mean score of a broken sensor is {after}, of nominal data {before}")
    });
}

fn refuses_bad_data(d: &dyn Detector, train: &[Synthetic], verdicts: &mut Verdicts<'_>) {
    let mut bad = train.to_vec();
    bad[1].observations[4] = f32::NAN;
    let views: Vec<_> = bad.iter().map(Synthetic::signals).collect();
    let refused = |views: &[Signals<'_>]| d.fit(views, views, &mut Rng::new(0)).is_err();
    verdicts.require(Law::RefusesBadData, refused(&[]), || "no data at all was accepted".into());
    verdicts.require(Law::RefusesBadData, refused(&views), || "a NaN was accepted".into());
}
