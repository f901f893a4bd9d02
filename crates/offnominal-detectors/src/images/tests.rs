//! What the image detectors see, on a square that an action moves.

use super::*;
use crate::shared::training::Training;
use offnominal_core::prelude::*;
use offnominal_laws::{assert_lawful, image_detector};
use offnominal_nets::vision::Backbone;
use offnominal_nets::vision::patches::{PIXELS, PatchCoder};
use std::num::NonZeroUsize;
use std::sync::{Arc, OnceLock};

const SIDE: usize = 64;

/// What is wrong from a step on.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Wrong {
    Nothing,
    /// The action has no effect.
    Stuck,
    /// The square has another colour.
    Green,
    /// The action goes the other way than it should.
    Policy,
}

fn image(x: f64, y: f64, colour: [u8; 3]) -> Vec<u8> {
    let inside = |at: usize, from: f64| (at as f64 + 0.5 - from).abs() < 5.0;
    let pixel = |i: usize| if inside(i % SIDE, x) && inside(i / SIDE, y) { colour } else { [240; 3] };
    (0..SIDE * SIDE).flat_map(pixel).collect()
}

/// The policy goes to the middle, with noise; the square follows.
fn video(seed: u64, steps: usize, wrong: Wrong, onset: usize) -> Video {
    let mut rng = Rng::new(seed);
    let (mut x, mut y) = (rng.range(8.0, 56.0), rng.range(8.0, 56.0));
    let (mut frames, mut actions) = (image(x, y, [200, 40, 40]), vec![]);
    for t in 0..steps {
        let is = |what: Wrong| wrong == what && t >= onset;
        let toward = |at: f64| (32.0 - at).signum() * if is(Wrong::Policy) { -1.0 } else { 1.0 };
        let command = [toward(x) * rng.range(0.5, 1.0), toward(y) * rng.range(0.5, 1.0)];
        if !is(Wrong::Stuck) {
            (x, y) = ((x + 2.0 * command[0]).clamp(6.0, 58.0), (y + 2.0 * command[1]).clamp(6.0, 58.0));
        }
        frames.extend(image(x, y, if is(Wrong::Green) { [40, 200, 40] } else { [200, 40, 40] }));
        actions.extend(command.map(|c| c as f32));
    }
    Video::new((SIDE, SIDE), frames, actions, 2)
}

/// A coder of the patches of such images.
fn backbone() -> Arc<dyn Backbone> {
    static CODER: OnceLock<Arc<PatchCoder>> = OnceLock::new();
    let coder = CODER.get_or_init(|| {
        let mut rng = Rng::new(1);
        let mut patch = || {
            let (x, y) = (rng.range(-6.0, 14.0), rng.range(-6.0, 14.0));
            let inside = |at: usize, from: f64| (at as f64 + 0.5 - from).abs() < 10.0;
            let colour = [200.0, 40.0, 40.0];
            (0..PIXELS).map(move |i| {
                let (row, column) = (i / 24, i / 3 % 8);
                let value =
                    if inside(column, x - 6.0) && inside(row, y - 6.0) { colour[i % 3] } else { 240.0 };
                value as f32 / 255.0 - 0.5
            })
        };
        let patches: Vec<f32> = (0..8192).flat_map(|_| patch().collect::<Vec<_>>()).collect();
        Arc::new(PatchCoder::train(&patches, 6, &mut rng, |_, _| ()))
    });
    Arc::new(coder.clone())
}

fn shape() -> DynamicsShape {
    DynamicsShape { rows: NonZeroUsize::new(5000).unwrap(), ..DynamicsShape::default() }
}

fn detectors(shape: &DynamicsShape) -> Vec<(&'static str, Box<dyn ImageDetector>)> {
    let (backbone, most) = (backbone(), NonZeroUsize::new(2000).unwrap());
    vec![
        ("frame-knn", Box::new(FrameKnn { backbone: backbone.clone(), metric: Metric::Euclidean })),
        ("patch-knn", Box::new(PatchKnn { backbone: backbone.clone(), pooling: Pooling::Top, most })),
        ("patch-dynamics", Box::new(PatchDynamics { backbone: backbone.clone(), shape: shape.clone() })),
        ("patch-fusion", Box::new(PatchFusion { backbone, shape: shape.clone() })),
    ]
}

fn train() -> Vec<Video> {
    (0..16).map(|i| video(i, 15, Wrong::Nothing, 0)).collect()
}

/// Mean score of steps from the onset on, over several episodes.
fn mean(monitor: &mut dyn ImageScorer, wrong: Wrong) -> f64 {
    let scores = (100..108).flat_map(|i| monitor.score_video(&video(i, 12, wrong, 5))[5..].to_vec());
    let all: Vec<f64> = scores.collect();
    assert!(all.iter().all(|s| s.is_finite()));
    all.iter().sum::<f64>() / all.len() as f64
}

/// The heat is largest where the square is, and there is something to compare the image with.
fn shows_where(name: &str, monitor: &mut dyn ImageScorer) {
    let video = video(60, 8, Wrong::Green, 3);
    monitor.score_video(&video);
    let heat = monitor.heat().unwrap();
    let best = (0..heat.values.len()).max_by(|&a, &b| heat.values[a].total_cmp(&heat.values[b])).unwrap();
    let pixel = SIDE / heat.rows;
    let at = (best / heat.columns * pixel * SIDE + best % heat.columns * pixel) * 3;
    let near = |i: usize| video.frame(video.len()).get(at + i).is_some_and(|&g| g == 40);
    let around = (0..=10).flat_map(|row| (0..=10 * 3).map(move |c| row * SIDE * 3 + c));
    assert!(around.into_iter().any(near), "{name}: {best}");
    assert_eq!(monitor.expected().unwrap().len(), SIDE * SIDE * 3, "{name}");
}

#[test]
fn each_sees_what_it_is_there_to_see_and_shows_where() {
    let train = train();
    for (name, detector) in detectors(&shape()) {
        let mut monitor = detector.fit(&train, &[], &mut Rng::new(7), FitProgress::unseen()).unwrap();
        let nominal = mean(monitor.as_mut(), Wrong::Nothing);
        let found = [Wrong::Green, Wrong::Stuck, Wrong::Policy].map(|w| mean(monitor.as_mut(), w));
        assert!(found[0] > nominal + 0.2 * nominal.abs(), "{name}: {nominal} {found:?}");
        if name == "patch-fusion" {
            assert!(found[1].min(found[2]) > nominal + 0.4, "{name}: {nominal} {found:?}");
        }
        if name != "frame-knn" {
            shows_where(name, monitor.as_mut());
        }
    }
}

#[test]
fn each_obeys_the_laws() {
    let one = const { NonZeroUsize::new(1).unwrap() };
    let rows = const { NonZeroUsize::new(1000).unwrap() };
    let brief = DynamicsShape { rows, training: Training { epochs: one, ..shape().training }, ..shape() };
    for (name, detector) in detectors(&brief) {
        assert_lawful(name, &image_detector(detector.as_ref(), &[]));
    }
}

#[test]
fn videos_of_different_sizes_are_refused() {
    let small = Video::new((32, 32), vec![0; 2 * 32 * 32 * 3], vec![0.0; 2], 2);
    for (name, detector) in detectors(&shape()) {
        let error = detector
            .fit(
                &[video(1, 5, Wrong::Nothing, 0), small.clone()],
                &[],
                &mut Rng::new(1),
                FitProgress::unseen(),
            )
            .err();
        assert!(matches!(error, Some(FitError::Video { episode: 1, .. })), "{name}");
    }
}
