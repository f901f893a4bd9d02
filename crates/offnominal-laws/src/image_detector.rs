//! Laws of image detectors and the monitors they become.

use crate::detector::close;
use crate::{Verdicts, Violation};
use offnominal_core::prelude::*;

/// Pixels on a side of the synthetic videos.
const SIDE: usize = 32;

/// Checks an image detector on small synthetic videos. Give it a recipe with few epochs: it is fitted twice, and must
/// refuse three times.
///
/// # Panics
/// If it cannot be fitted on sound videos.
pub fn image_detector(detector: &dyn ImageDetector, exempt: &[(Law, &'static str)]) -> Vec<Violation> {
    let mut verdicts = Verdicts::new(exempt);
    let (train, probe) = (nominal_videos(Seed(1), 8, 10), &nominal_videos(Seed(2), 2, 10));
    let mut monitor = fit(detector, &train);
    let scores = monitor.score_video(&probe[0]);

    let again = fit(detector, &train).score_video(&probe[0]);
    verdicts.require(Law::SameSeedSameBits, bits(&scores) == bits(&again), || {
        "two fits with the same seed score differently".into()
    });
    fork_shares_future(monitor.as_mut(), &probe[0], &mut verdicts);
    streams_and_forgets(monitor.as_mut(), probe, &scores, &mut verdicts);
    stays_finite(monitor.as_mut(), &probe[0], &scores, &mut verdicts);
    sees_gross_faults(monitor.as_mut(), &probe[0], &scores, &mut verdicts);
    refuses_bad_data(detector, &train, &mut verdicts);
    verdicts.found
}

/// Videos of a square that two random actions move over a light ground.
fn nominal_videos(seed: Seed, n_videos: usize, steps: usize) -> Vec<Video> {
    (0..n_videos).map(|i| nominal_video(&mut seed.child(i).rng(), steps)).collect()
}

fn nominal_video(rng: &mut Rng, steps: usize) -> Video {
    let mut at = [rng.range(8.0, 24.0), rng.range(8.0, 24.0)];
    let (mut frames, mut actions) = (image(at), vec![]);
    for _ in 0..steps {
        let command = [rng.range(-1.0, 1.0), rng.range(-1.0, 1.0)];
        at = std::array::from_fn(|i| (at[i] + 2.0 * command[i]).clamp(5.0, 27.0));
        frames.extend(image(at));
        actions.extend(command.map(|c| c as f32));
    }
    Video::new((SIDE, SIDE), frames, actions, 2)
}

fn image([x, y]: [f64; 2]) -> Vec<u8> {
    let inside = |pixel: usize, middle: f64| (pixel as f64 + 0.5 - middle).abs() < 4.0;
    let is_square = |i: usize| inside(i % SIDE, x) && inside(i / SIDE, y);
    (0..SIDE * SIDE).flat_map(|i| if is_square(i) { [200, 40, 40] } else { [230, 235, 240] }).collect()
}

fn fit(detector: &dyn ImageDetector, videos: &[Video]) -> Box<dyn ImageScorer> {
    let (train, validation) = videos.split_at(videos.len() - 2);
    detector
        .fit(train, validation, &mut Rng::new(7), FitProgress::unseen())
        .expect("sound videos must be accepted")
}

fn stream(monitor: &mut dyn ImageScorer, video: &Video) -> Vec<f64> {
    monitor.reset();
    video.transitions().map(|transition| monitor.score(transition)).collect()
}

fn bits(scores: &[f64]) -> Vec<u64> {
    scores.iter().map(|s| s.to_bits()).collect()
}

/// Forks in the middle of an episode: both go on alike, though another episode begins on a fork first.
fn fork_shares_future(monitor: &mut dyn ImageScorer, probe: &Video, verdicts: &mut Verdicts<'_>) {
    let half = probe.len() / 2;
    let rest = |m: &mut dyn ImageScorer| {
        bits(&probe.transitions().skip(half).map(|transition| m.score(transition)).collect::<Vec<_>>())
    };
    monitor.reset();
    for transition in probe.transitions().take(half) {
        monitor.score(transition);
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
    monitor: &mut dyn ImageScorer,
    probe: &[Video],
    scores: &[f64],
    verdicts: &mut Verdicts<'_>,
) {
    let streamed = stream(monitor.fork().as_mut(), &probe[0]);
    verdicts.require(Law::StreamedEqualsBatch, close(scores, &streamed), || {
        "streamed scores differ from those of the whole video by more than 1e-5".into()
    });
    stream(monitor, &probe[1]);
    let again = stream(monitor, &probe[0]);
    monitor.score_video(&probe[1]);
    let forgets = bits(&again) == bits(&streamed) && bits(scores) == bits(&monitor.score_video(&probe[0]));
    verdicts.require(Law::ResetForgets, forgets, || "scores depend on the episode before".into());
}

/// A camera or a policy that fails delivers anything, and the monitor must go on, also in the episodes that follow.
fn stays_finite(monitor: &mut dyn ImageScorer, probe: &Video, scores: &[f64], verdicts: &mut Verdicts<'_>) {
    verdicts.require(Law::IsFinite, scores.iter().all(|s| s.is_finite()), || {
        "a nominal score is not finite".into()
    });
    let commands = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, f32::MAX, f32::MIN, f32::MIN_POSITIVE];
    for (level, command) in [0, 255].into_iter().cycle().zip(commands) {
        let mut failed = probe.clone();
        let from = 3 * failed.frame_len();
        failed.frames[from..2 * from].fill(level);
        failed.actions[6..10].fill(command);
        let finite = monitor.score_video(&failed).iter().all(|s| s.is_finite());
        verdicts.require(Law::IsFinite, finite, || {
            format!("a score is not finite after pixels of {level} and actions of {command}")
        });
        verdicts.require(Law::ResetForgets, bits(scores) == bits(&monitor.score_video(probe)), || {
            format!("scores depend on pixels of {level} and actions of {command} in the episode before")
        });
    }
}

/// From half time on the camera shows noise.
fn sees_gross_faults(
    monitor: &mut dyn ImageScorer,
    probe: &Video,
    nominal: &[f64],
    verdicts: &mut Verdicts<'_>,
) {
    let (mut broken, mut rng) = (probe.clone(), Rng::new(3));
    let half = broken.frames.len() / 2;
    broken.frames[half..].iter_mut().for_each(|byte| *byte = rng.bits() as u8);
    let scores = monitor.score_video(&broken);
    let mean = |scores: &[f64]| scores.iter().sum::<f64>() / scores.len() as f64;
    let (before, after) = (mean(&nominal[nominal.len() / 2..]), mean(&scores[scores.len() / 2..]));
    verdicts.require(Law::SeesGrossFaults, after > before, || {
        format!("mean score of a camera that shows noise is {after}, of a nominal one {before}")
    });
}

fn refuses_bad_data(detector: &dyn ImageDetector, train: &[Video], verdicts: &mut Verdicts<'_>) {
    let (mut nan, mut uneven) = (train.to_vec(), train.to_vec());
    nan[1].actions[4] = f32::NAN;
    uneven[3] = Video::new((SIDE, SIDE / 2), vec![0; 2 * 3 * SIDE * SIDE / 2], vec![0.0; 2], 2);
    for (bad, what) in [(vec![], "no video at all"), (nan, "a NaN"), (uneven, "videos of two sizes")] {
        let refused = detector.fit(&bad, &bad, &mut Rng::new(0), FitProgress::unseen()).is_err();
        verdicts.require(Law::RefusesBadData, refused, || format!("{what} was accepted"));
    }
}
