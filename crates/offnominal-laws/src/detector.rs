//! Laws of detectors and the monitors they become.

use crate::{MockEnsemble, Verdicts, Violation};
use offnominal_core::archive::Archive;
use offnominal_core::prelude::*;

/// A policy for so many observation channels.
type Acting = dyn Fn(usize) -> Box<dyn Policy>;

/// Checks a detector on small synthetic episodes. Give it a recipe with few epochs: it is fitted three times, and must
/// refuse four times. If it looks inside the policy, it sees one that drops channels at random and has a choice of two.
///
/// # Panics
/// If it cannot be fitted on sound data.
pub fn detector(detector: &dyn Detector, exempt: &[(Law, &'static str)]) -> Vec<Violation> {
    detector_with(detector, &|width| Box::new(MockEnsemble::passes(width)), exempt)
}

/// The same with another policy, made for the number of observation channels given.
///
/// # Panics
/// As [`detector`].
pub fn detector_with(
    detector: &dyn Detector,
    policy: &Acting,
    exempt: &[(Law, &'static str)],
) -> Vec<Violation> {
    let fit = |train: &[Synthetic]| fit(detector, policy, train);
    let mut verdicts = Verdicts::new(exempt);
    let train = nominal_episodes(Seed(1), 12, 40);
    let probe = &nominal_episodes(Seed(2), 2, 40);
    let mut monitor = fit(&train);
    let scores = batch(monitor.as_mut(), &probe[0]);

    verdicts.require(Law::SameSeedSameBits, scores == batch(fit(&train).as_mut(), &probe[0]), || {
        "two fits with the same seed score differently".into()
    });
    fork_shares_future(monitor.as_mut(), &probe[0], &mut verdicts);
    streams_and_forgets(monitor.as_mut(), probe, &scores, &mut verdicts);
    together_as_alone(monitor.as_mut(), probe, &mut verdicts);
    stays_finite(monitor.as_mut(), &probe[0], &scores, &mut verdicts);
    whole_is_whole(monitor.as_mut(), &probe[0], &mut verdicts);
    leaves_out(monitor.as_mut(), &probe[0], &mut verdicts);
    shares_sum(monitor.as_mut(), &probe[0], &mut verdicts);
    evidence_is_largest(monitor.as_mut(), &probe[0], &mut verdicts);
    ignores_constant_channels(&fit, &train, &probe[0], &scores, &mut verdicts);
    sees_gross_faults(monitor.as_mut(), &probe[0], &scores, &mut verdicts);
    loads_as_saved(detector, monitor.as_mut(), policy, &probe[0], &mut verdicts);
    refuses_bad_data(detector, policy, &train, &mut verdicts);
    verdicts.found
}

/// One synthetic episode: three observation channels driven by one action, with a little noise.
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

/// Nominal episodes of a stable linear system under a random action; for laws and benchmarks.
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

fn fit(detector: &dyn Detector, policy: &Acting, train: &[Synthetic]) -> Box<dyn Scorer> {
    let policy = policy(train[0].obs_width);
    let views: Vec<_> = train.iter().map(Synthetic::signals).collect();
    let (train, validation) = views.split_at(views.len() - 2);
    detector
        .fit(Nominal::new(train, validation).with_policy(policy.as_ref()), &mut Rng::new(7))
        .expect("sound data must be accepted")
}

fn batch(monitor: &mut dyn Scorer, episode: &Synthetic) -> Vec<f64> {
    let mut scores = Vec::new();
    monitor.score_episode(&episode.signals(), &mut scores);
    scores
}

fn stream(monitor: &mut dyn Scorer, episode: &Synthetic) -> Vec<f64> {
    monitor.reset();
    episode.signals().transitions().map(|t| monitor.score(&t)).collect()
}

pub(crate) fn close(a: &[f64], b: &[f64]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(x, y)| (x - y).abs() <= 1e-5 * x.abs().max(y.abs()).max(1e-6))
}

/// Keeps the monitor in the middle of an episode, and brings it back as it is at the beginning of one.
fn loads_as_saved(
    detector: &dyn Detector,
    monitor: &mut dyn Scorer,
    policy: &Acting,
    probe: &Synthetic,
    verdicts: &mut Verdicts<'_>,
) {
    let (mut archive, scores) = (Archive::default(), stream(monitor, probe));
    match monitor.save(&mut archive.writer()) {
        Err(ArchiveError::NotKept) => return,
        outcome => verdicts.require(Law::LoadsAsSaved, outcome.is_ok(), || format!("{outcome:?}")),
    }
    let policy = policy(probe.obs_width);
    let found = match detector.load(&archive.reader(probe.obs_width, 1), Some(policy.as_ref())) {
        Err(why) => Err(why.to_string()),
        Ok(mut again) => {
            let found: Vec<f64> = probe.signals().transitions().map(|t| again.score(&t)).collect();
            let differs = found.iter().zip(&scores).position(|(a, b)| a.to_bits() != b.to_bits());
            differs.map_or(Ok(()), |t| Err(format!("step {t}: expected {}, found {}", scores[t], found[t])))
        }
    };
    verdicts.require(Law::LoadsAsSaved, found.is_ok(), || found.unwrap_err());
}

/// Forks in the middle of an episode: both go on alike, though another episode runs on the fork first.
fn fork_shares_future(monitor: &mut dyn Scorer, probe: &Synthetic, verdicts: &mut Verdicts<'_>) {
    let half = probe.signals().len() / 2;
    let rest = |m: &mut dyn Scorer| -> Vec<f64> {
        probe.signals().transitions().skip(half).map(|t| m.score(&t)).collect()
    };
    monitor.reset();
    for seen in probe.signals().transitions().take(half) {
        monitor.score(&seen);
    }
    let (mut fork, mut second) = (monitor.fork(), monitor.fork());
    let on_fork = rest(fork.as_mut());
    fork.reset();
    let undisturbed = rest(monitor);
    verdicts.require(
        Law::ForkSharesFuture,
        on_fork == undisturbed && undisturbed == rest(second.as_mut()),
        || "a monitor forked in the middle of an episode and its original score the rest differently".into(),
    );
}

fn streams_and_forgets(
    monitor: &mut dyn Scorer,
    probe: &[Synthetic],
    scores: &[f64],
    verdicts: &mut Verdicts<'_>,
) {
    let streamed = stream(monitor.fork().as_mut(), &probe[0]);
    verdicts.require(Law::StreamedEqualsBatch, close(scores, &streamed), || {
        "streamed scores differ from those of the whole episode by more than 1e-5".into()
    });
    stream(monitor, &probe[1]);
    let again = stream(monitor, &probe[0]);
    batch(monitor, &probe[1]);
    verdicts.require(Law::ResetForgets, again == streamed && scores == batch(monitor, &probe[0]), || {
        "scores depend on the episode before".into()
    });
}

/// Episodes of different lengths, an empty one among them, are scored together.
fn together_as_alone(monitor: &mut dyn Scorer, probe: &[Synthetic], verdicts: &mut Verdicts<'_>) {
    let [first, second] = [&probe[0], &probe[1]].map(Synthetic::signals);
    let together = monitor.score_episodes(&[second, second.until(0), second.until(7), first]);
    let [first, second] = [&probe[0], &probe[1]].map(|e| stream(monitor, e));
    let alone = [&second[..], &[], &second[..7], &first[..]];
    let same = together.len() == alone.len() && together.iter().zip(alone).all(|(a, b)| close(a, b));
    verdicts.require(Law::TogetherEqualsAlone, same, || {
        "scores of several episodes differ from those of each alone by more than 1e-5".into()
    });
}

/// A sensor or a policy that fails delivers anything, and the monitor must go on, also in the episodes that follow.
fn stays_finite(monitor: &mut dyn Scorer, probe: &Synthetic, scores: &[f64], verdicts: &mut Verdicts<'_>) {
    verdicts.require(Law::IsFinite, scores.iter().all(|s| s.is_finite()), || {
        "a nominal score is not finite".into()
    });
    for value in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, f32::MAX, f32::MIN, f32::MIN_POSITIVE] {
        let mut failed = probe.clone();
        failed.observations[12..30].fill(value);
        failed.actions[5..8].fill(value);
        let finite = batch(monitor, &failed).iter().all(|s| s.is_finite());
        verdicts
            .require(Law::IsFinite, finite, || format!("a score is not finite after a signal of {value}"));
        verdicts.require(Law::ResetForgets, scores == batch(monitor, probe), || {
            format!("scores depend on a signal of {value} in the episode before")
        });
    }
}

/// A step without a gap, told as one that may have gaps.
fn whole_is_whole(monitor: &mut dyn Scorer, probe: &Synthetic, verdicts: &mut Verdicts<'_>) {
    let (expected, read) = (stream(monitor, probe), vec![false; probe.obs_width]);
    monitor.reset();
    let whole = |seen| Partial { seen, missing_before: &read, missing_after: &read };
    let found: Vec<_> = probe.signals().transitions().map(|t| monitor.score_partial(&whole(t))).collect();
    let differs = found.iter().zip(&expected).position(|(found, want)| found.score != *want);
    verdicts.require(Law::WholeIsWhole, differs.is_none(), || {
        let t = differs.unwrap_or_default();
        format!("step {t}: expected {}, found {}", expected[t], found[t].score)
    });
    let is_sure = found.iter().all(|found| found.confidence == 1.0);
    verdicts.require(Law::WholeIsWhole, is_sure, || "a step without a gap has a confidence below 1".into());
}

/// What stands in the place of a number that was not read is changed, and the score must not follow.
fn leaves_out(monitor: &mut dyn Scorer, probe: &Synthetic, verdicts: &mut Verdicts<'_>) {
    let is_left_out = monitor.missing() == Missing::LeftOut;
    let read = vec![false; probe.obs_width];
    for gap in [&[0][..], &[1, 2], &[0, 1, 2]] {
        let missing: Vec<bool> = (0..probe.obs_width).map(|j| gap.contains(&j)).collect();
        let mut scores = |fill: f32| -> Vec<PartialScore> {
            monitor.reset();
            let score = |(t, seen): (usize, Transition<'_>)| {
                let mut filled = seen.next_obs.to_vec();
                let has_gap = t % 3 == 1;
                gap.iter().filter(|_| has_gap).for_each(|&j| filled[j] = fill);
                let missing_after = if has_gap { &missing } else { &read };
                let seen = Transition { next_obs: &filled, ..seen };
                monitor.score_partial(&Partial { seen, missing_before: &read, missing_after })
            };
            probe.signals().transitions().enumerate().map(score).collect()
        };
        let (zero, far) = (scores(0.0), scores(30.0));
        let is_sound = |s: &PartialScore| s.score.is_finite() && (0.0..=1.0).contains(&s.confidence);
        verdicts.require(Law::LeavesOut, zero.iter().chain(&far).all(is_sound), || {
            format!("without the channels {gap:?} a score is not finite, or a confidence not between 0 and 1")
        });
        let [zero, far] = [zero, far].map(|s| s.iter().map(|s| s.score).collect::<Vec<_>>());
        verdicts.require(Law::LeavesOut, !is_left_out || close(&zero, &far), || {
            format!("what stands for the missing channels {gap:?} changes the score")
        });
    }
    monitor.reset();
}

/// Asks for the parts of each score, also where a number is missing in every third step.
fn shares_sum(monitor: &mut dyn Scorer, probe: &Synthetic, verdicts: &mut Verdicts<'_>) {
    let (mut shares, read) = (vec![0.0; probe.obs_width], vec![false; probe.obs_width]);
    let expected = stream(monitor, probe);
    let gap: Vec<bool> = (0..probe.obs_width).map(|j| j == 1).collect();
    for every in [usize::MAX, 3] {
        monitor.reset();
        for (t, seen) in probe.signals().transitions().enumerate() {
            let missing_after = if t % every == every - 2 { &gap } else { &read };
            let score = monitor.score_partial(&Partial { seen, missing_before: &read, missing_after }).score;
            let is_undisturbed = every < usize::MAX || score == expected[t];
            verdicts
                .require(Law::SharesSum, is_undisturbed, || format!("step {t}: asking changes the score"));
            shares.fill(f64::NAN);
            if !monitor.shares(&mut shares) {
                return;
            }
            let sum: f64 = shares.iter().sum();
            let is_sum = (sum - score).abs() <= 1e-9 * shares.iter().map(|s| s.abs()).sum::<f64>().max(1.0);
            verdicts.require(Law::SharesSum, is_sum, || {
                format!("step {t}: the score is {score}, its parts are {shares:?}")
            });
        }
    }
    monitor.reset();
}

/// Asks what spoke in each score, where a detector tells both that and the parts.
fn evidence_is_largest(monitor: &mut dyn Scorer, probe: &Synthetic, verdicts: &mut Verdicts<'_>) {
    let (mut shares, expected) = (vec![0.0; probe.obs_width], stream(monitor, probe));
    monitor.reset();
    for (t, seen) in probe.signals().transitions().enumerate() {
        let score = monitor.score(&seen);
        verdicts.require(Law::EvidenceIsLargest, score == expected[t], || {
            format!("step {t}: asking changes the score")
        });
        let (found, tells) = (monitor.evidence(), monitor.shares(&mut shares));
        let Some(channel) = found.and_then(|found| found.channel).filter(|_| tells) else { continue };
        let size = shares.get(channel).map(|share| share.abs());
        let largest = shares.iter().fold(0.0_f64, |most, share| most.max(share.abs()));
        // What lies beyond the observation is a command, which has no share.
        let is_command = (probe.obs_width..=probe.obs_width).contains(&channel);
        verdicts.require(Law::EvidenceIsLargest, is_command || size == Some(largest), || {
            format!("step {t}: {channel} is named, the parts are {shares:?}")
        });
    }
    monitor.reset();
}

fn ignores_constant_channels(
    fit: &dyn Fn(&[Synthetic]) -> Box<dyn Scorer>,
    train: &[Synthetic],
    probe: &Synthetic,
    without: &[f64],
    verdicts: &mut Verdicts<'_>,
) {
    let wider: Vec<_> = train.iter().map(|e| e.with_constant(5.0)).collect();
    let mut monitor = fit(&wider);
    for (value, what) in [(5.0, "adding"), (5.001, "moving"), (-500.0, "moving")] {
        let scores = batch(monitor.as_mut(), &probe.with_constant(value));
        verdicts.require(Law::IgnoresConstantChannels, close(without, &scores), || {
            format!("{what} a channel that was constant in training changes the scores (5 to {value})")
        });
    }
}

fn sees_gross_faults(
    monitor: &mut dyn Scorer,
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

fn refuses_bad_data(d: &dyn Detector, policy: &Acting, train: &[Synthetic], verdicts: &mut Verdicts<'_>) {
    let policy = policy(train[0].obs_width);
    let (mut nan, mut infinite, mut uneven) = (train.to_vec(), train.to_vec(), train.to_vec());
    nan[1].observations[4] = f32::NAN;
    infinite[2].actions[3] = f32::INFINITY;
    uneven[3] = uneven[3].with_constant(0.0);
    for (bad, what) in
        [(vec![], "no data at all"), (nan, "a NaN"), (infinite, "an infinity"), (uneven, "uneven widths")]
    {
        let views: Vec<_> = bad.iter().map(Synthetic::signals).collect();
        let refused =
            d.fit(Nominal::new(&views, &views).with_policy(policy.as_ref()), &mut Rng::new(0)).is_err();
        verdicts.require(Law::RefusesBadData, refused, || format!("{what} was accepted"));
    }
}
