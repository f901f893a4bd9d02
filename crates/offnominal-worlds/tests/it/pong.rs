//! Pong as an environment: what is seen, who wins, and where images are corrupted.

use offnominal_core::prelude::*;
use offnominal_core::schedule::{Extent, Onset, Schedule};
use offnominal_worlds::{anomaly, env};
use serde_json::{Value, json};

const PIXELS: usize = 84 * 84;

fn environment() -> Box<dyn Env> {
    let mut env = env::catalogue().build("pong", &json!({})).unwrap();
    env.start(&[100.0, 0.0, 60.0, 150.0], &mut Rng::new(0));
    env
}

/// Follows the ball, which is read from the newest image: the brightest pixels between the paddles.
fn follow(obs: &[f32], action: &mut [f32]) {
    let newest = &obs[3 * PIXELS..];
    let row_of = |columns: std::ops::Range<usize>, low: f32, high: f32| {
        let inside = |i: &usize| columns.contains(&(i % 84)) && (14..77).contains(&(i / 84));
        let rows: Vec<f32> = (0..PIXELS)
            .filter(|i| inside(i) && (low..high).contains(&newest[*i]))
            .map(|i| (i / 84) as f32)
            .collect();
        (!rows.is_empty()).then(|| rows.iter().sum::<f32>() / rows.len() as f32)
    };
    let (ball, paddle) = (row_of(12..72, 100.0, 256.0), row_of(73..77, 110.0, 256.0));
    action[0] = match (ball, paddle) {
        (Some(ball), Some(paddle)) if ball < paddle - 1.5 => 1.0,
        (Some(ball), Some(paddle)) if ball > paddle + 1.5 => 2.0,
        _ => 0.0,
    };
}

fn nothing(_: &[f32], action: &mut [f32]) {
    action[0] = 0.0;
}

#[test]
fn a_player_who_reads_the_images_does_better_than_one_who_does_not() {
    let env = environment();
    let points = |trial: Trial<'_>| -> f64 {
        let episode = trial.nominal(Seed(3));
        assert!(episode.rewards.iter().all(|r| [-1.0, 0.0, 1.0].contains(r)));
        episode.total_reward()
    };
    let mut short = Trial::new(env.as_ref(), &follow);
    short.horizon = 600;
    let mut idle = Trial::new(env.as_ref(), &nothing);
    idle.horizon = 600;
    let (skilled, idle) = (points(short), points(idle));
    assert!(idle < -8.0 && skilled > idle + 8.0, "{skilled} against {idle}");
}

#[test]
fn a_lost_game_is_a_failure() {
    let env = environment();
    let episode = Trial::new(env.as_ref(), &nothing).nominal(Seed(1));
    let lost = episode.rewards.iter().filter(|&&r| r < 0.0).count();
    assert_eq!((episode.end, episode.success(), lost), (End::Failed, Some(false), 21));
}

#[test]
fn up_is_up() {
    let paddle = |action: f32| {
        let mut env = environment();
        (0..5).for_each(|_| {
            env.step(&[action], &mut Rng::new(0));
        });
        let mut frame = Frame::new(160, 210);
        env.render(Camera(0), &mut frame);
        frame.centroid(2).unwrap().1
    };
    // The score has the class of its side and does not move.
    assert!(paddle(1.0) < paddle(0.0) && paddle(0.0) < paddle(2.0));
}

#[test]
fn an_image_of_any_size_shows_every_class() {
    let mut env = environment();
    for (width, height) in [(160, 210), (320, 420), (84, 84)] {
        let mut frame = Frame::new(width, height);
        env.render(Camera(0), &mut frame);
        assert!((0..5).all(|class| frame.share(class) > 0.0), "{width} × {height}");
    }
}

/// The observation some steps after the onset, and the nominal one.
fn disturbed(params: Value) -> (Vec<f32>, Vec<f32>) {
    let env = environment();
    let schedule = Schedule { onset: Onset::At(2), extent: Extent::ToEnd };
    let anomaly_spec = AnomalySpec { anomaly: "img-gaussian-noise".into(), params, schedule };
    let mut trial = Trial::new(env.as_ref(), &nothing);
    trial.horizon = 4;
    let (anomalous, twin) = trial.with_twin(Seed(1), &anomaly_spec, &anomaly::catalogue()).unwrap();
    let last = |e: &Episode| e.observations[4 * e.obs_width..].to_vec();
    (last(&anomalous), last(&twin))
}

#[test]
fn noise_on_the_screen_is_averaged_and_noise_on_the_observation_is_not() {
    let spread = |(a, b): (Vec<f32>, Vec<f32>)| {
        let differences: Vec<f32> =
            a[3 * PIXELS..].iter().zip(&b[3 * PIXELS..]).map(|(a, b)| a - b).collect();
        // The two oldest images are from before the onset.
        assert!(a[..2 * PIXELS] == b[..2 * PIXELS] && a[2 * PIXELS..3 * PIXELS] != b[2 * PIXELS..3 * PIXELS]);
        (differences.iter().map(|d| d * d).sum::<f32>() / PIXELS as f32).sqrt()
    };
    let on_observation = spread(disturbed(json!({"magnitude": 1})));
    let on_screen = spread(disturbed(json!({"magnitude": 1, "at": "screen"})));
    // σ = 0.08 · 255 grey levels; on the screen it is divided by √(2.5 · 1.9) pixels and by the weights of the colours.
    assert!(
        (15.0..21.0).contains(&on_observation) && (4.0..8.0).contains(&on_screen),
        "{on_observation} {on_screen}"
    );
}

#[track_caller]
fn refuses(id: &str, environment: &str, params: Value, want: &str) {
    let schedule = Schedule { onset: Onset::At(0), extent: Extent::ToEnd };
    let env = env::catalogue().build(environment, &json!({})).unwrap();
    let anomaly_spec = AnomalySpec { anomaly: id.into(), params, schedule };
    let error =
        anomaly_spec.build(&anomaly::catalogue(), env.as_ref()).err().expect("must be refused").to_string();
    assert!(error.contains(want), "{error}");
}

#[test]
fn what_makes_no_sense_is_refused() {
    refuses("act-noise", "pong", json!({"magnitude": 1}), "move of pong is a choice among 3; act-delay, ");
    refuses("act-offset", "cartpole", json!({"magnitude": 1}), "push of cartpole is a choice among 2");
    refuses(
        "img-fog",
        "cartpole",
        json!({"magnitude": 1}),
        "whose observation is an image, but that of cartpole",
    );
    refuses("img-saturate", "pong", json!({"magnitude": 1}), "an image in colour");
    refuses("img-fog", "pong", json!({"magnitude": 6}), "a severity from 0 to 5, found 6");
    refuses("img-fog", "pong", json!({"magnitude": 1, "at": "screen"}), "no parameter \"screen-fog\"");
    refuses("img-pixelate", "pong", json!({"magnitude": 1, "at": "moon"}), "unknown variant `moon`");
    refuses(
        "obs-noise",
        "pong",
        json!({"magnitude": 1, "channels": [1]}),
        "no observation channel 1; there are: screen",
    );
}

#[test]
fn ids_leave_out_what_would_be_refused() {
    for entry in env::ENVS {
        let Ok(env) = (entry.build)(&json!({})) else { continue };
        for id in anomaly::ids_for(env.spec()) {
            let search = anomaly::searches(env.spec(), &id, &anomaly::Deviations::default()).unwrap()[0];
            let params = json!({"magnitude": search.neutral + search.step});
            let schedule = Schedule { onset: Onset::At(0), extent: Extent::ToEnd };
            let anomaly_spec = AnomalySpec { anomaly: id.clone(), params, schedule };
            assert!(anomaly_spec.build(&anomaly::catalogue(), env.as_ref()).is_ok(), "{id} in {}", entry.id);
        }
    }
}
