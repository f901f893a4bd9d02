//! Every environment with a camera gives images that show what happens, and nothing else.

use offnominal_core::prelude::*;
use offnominal_core::run::play_on;
use offnominal_worlds::ENVS;
use serde_json::json;

const SIDE: usize = 64;
const STEPS: u32 = 24;

/// Frames of an episode in which does are drawn at random, the first state included.
fn frames(env: &dyn Env, seed: u64) -> Vec<Frame> {
    let (mut own, mut rng) =
        (env.fork().expect("an environment that can be copied"), Rng::new(seed ^ 0x5eed));
    let channels = env.spec().action.clone();
    let mut policy = move |_: &[f32], action: &mut [f32]| {
        for (a, channel) in action.iter_mut().zip(&channels) {
            let (low, high) = (channel.low.max(-1.0), channel.high.min(1.0));
            *a = match channel.choices {
                0 => rng.range(low, high) as f32,
                n => rng.below(n as usize) as f32,
            };
        }
    };
    let mut frames = Vec::new();
    let mut look = |env: &mut dyn Env| {
        let mut frame = Frame::new(SIDE, SIDE);
        env.render(Camera(0), &mut frame);
        frames.push(frame);
    };
    play_on(own.as_mut(), &mut policy, STEPS, Seed(seed), None, &mut look);
    frames
}

/// The environments that have a camera and can be had here.
fn environments() -> Vec<Box<dyn Env>> {
    let built = ENVS.iter().filter_map(|entry| match (entry.build)(&json!({})) {
        Err(BuildError::Missing(why)) => {
            skips::skip(&format!("environment {}", entry.id), format!("the cameras: {why}"));
            None
        }
        built => Some(built.unwrap()),
    });
    built.filter(|env| !env.spec().cameras.is_empty() && env.fork().is_some()).collect()
}

fn mean(frame: &Frame) -> f64 {
    frame.rgb.iter().map(|&p| f64::from(p)).sum::<f64>() / frame.rgb.len() as f64
}

#[test]
fn images_are_neither_empty_nor_still_and_are_the_same_each_time() {
    for env in environments() {
        let (id, seen) = (&env.spec().id, frames(env.as_ref(), 1));
        assert!(seen.len() > 4, "{id}");
        for frame in &seen {
            assert!((15.0..=254.5).contains(&mean(frame)), "{id}: mean level {}", mean(frame));
            let classes = env.spec().classes.len();
            let shares: f64 = (1..classes.max(2)).map(|c| frame.share(c as u8)).sum();
            assert!(id == "pong" || shares > 0.001, "{id}: {shares} of the image belongs to a class");
            assert!(frame.classes.iter().all(|&c| usize::from(c) < classes.max(1)), "{id}");
        }
        let (first, last) = (&seen[0], &seen[seen.len() - 1]);
        let moved = first.rgb.iter().zip(&last.rgb).filter(|(a, b)| a != b).count();
        assert!(moved > 10, "{id}: {moved} numbers of the image changed in {} steps", seen.len() - 1);
        assert!(seen == frames(env.as_ref(), 1), "{id}: the same seed gives the same images");
    }
}

/// Pixels that change again and again in the same way in every episode, whatever happens there, as a counter would.
/// Of the second half of the episodes: at first all bodies fall alike.
fn clocks(episodes: &[Vec<Frame>]) -> usize {
    let steps = episodes.iter().map(Vec::len).min().unwrap_or(0);
    let pixel = |e: &[Frame], t: usize, at: usize| [0, 1, 2].map(|c| e[t].rgb[3 * at + c]);
    let is_clock = |&at: &usize| {
        let agrees = |t: usize| episodes.iter().all(|e| pixel(e, t, at) == pixel(&episodes[0], t, at));
        let moves = (steps / 2 + 1..steps)
            .filter(|&t| pixel(&episodes[0], t, at) != pixel(&episodes[0], t - 1, at))
            .count();
        moves > 2 && (steps / 2..steps).all(agrees)
    };
    (0..SIDE * SIDE).filter(is_clock).count()
}

#[test]
fn no_image_tells_the_time() {
    for env in environments() {
        let episodes: Vec<_> = (0..6).map(|seed| frames(env.as_ref(), seed)).collect();
        let found = clocks(&episodes);
        // A digit has more pixels; a few of a body may fall alike by chance.
        assert!(found < 12, "{}: {found} pixels depend on the step alone", env.spec().id);
    }
}

#[test]
fn a_counter_in_the_corner_is_found() {
    let environment = environments().remove(0);
    let mut episodes: Vec<_> = (0..6).map(|seed| frames(environment.as_ref(), seed)).collect();
    for episode in &mut episodes {
        for (t, frame) in episode.iter_mut().enumerate() {
            (0..16).for_each(|i| frame.paint(i % 4, i / 4, [10 * t as u8, 0, 0], 0));
        }
    }
    assert!(clocks(&episodes) >= 16);
}
