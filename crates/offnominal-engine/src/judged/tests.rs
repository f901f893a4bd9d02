//! Laws, and episodes that fail exactly where they should.

use super::*;
use crate::catalogues;
use offnominal_core::policy::Random;
use serde_json::json;

fn environment(id: &str) -> Box<dyn Env> {
    catalogues::configured(id, &json!({})).unwrap()
}

fn judged(id: &str, criterion: &Criterion) -> Judged<'static> {
    Judged::new(environment(id), criterion).unwrap()
}

fn stl(text: &str) -> Criterion {
    Criterion::Stl(Formula::parse(text).unwrap())
}

/// Episodes with random commands, each with the margin after every step.
fn episodes(env: &dyn Env, n: u64) -> Vec<(Episode, Vec<f64>)> {
    let policy = Random::new(&env.spec().action);
    let trial = Trial::new(env, &policy);
    let one = |seed: u64| {
        let (seed, mut margins) = (Seed(seed), Vec::new());
        let x = env.draw(&mut seed.rng());
        let episode = trial
            .starting_at(x, seed, &mut |env| margins.push(env.failure_search().margin().unwrap_or(f64::NAN)));
        (episode, margins)
    };
    (0..n).map(one).collect()
}

#[test]
fn judged_environments_obey_the_laws_of_environments() {
    for criterion in [Criterion::ReturnBelow(20.0), stl("always (abs(x) < 1 and push < 2)")] {
        let violations = offnominal_laws::env(&judged("cartpole", &criterion), &[]);
        assert!(violations.is_empty(), "{criterion:?}: {violations:?}");
    }
}

#[test]
fn an_episode_fails_exactly_where_its_return_is_too_low() {
    let played = episodes(&judged("cartpole", &Criterion::ReturnBelow(20.0)), 60);
    let failed = played.iter().filter(|(episode, _)| episode.end == End::Failed).count();
    assert!((15..50).contains(&failed), "{failed} of 60");
    for (episode, margins) in played {
        let total = episode.total_reward();
        assert_eq!(episode.end, if total < 20.0 { End::Failed } else { End::Succeeded });
        assert!((margins[margins.len() - 1] - (total / 20.0 - 1.0)).abs() < 1e-12);
    }
    // A return may be negative.
    let played = episodes(&judged("pendulum", &Criterion::ReturnBelow(-1200.0)), 20);
    let sound = |(e, m): &(Episode, Vec<f64>)| {
        (e.end == End::Failed) == (e.total_reward() < -1200.0)
            && (e.end == End::Failed) == (m[m.len() - 1] < 0.0)
    };
    assert!(played.iter().all(sound));
}

#[test]
fn an_episode_that_breaks_its_formula_ends_there_and_has_no_margin_left() {
    let plain = episodes(environment("cartpole").as_ref(), 40);
    let played = episodes(&judged("cartpole", &stl("always[0, 0.3] (abs(theta) < 0.1)")), 40);
    let mut broken = 0;
    for ((episode, margins), (own, _)) in played.iter().zip(&plain) {
        // Channel 2 is the angle, and the first 16 samples lie within 0.3 s.
        let worst = own.observations.chunks(own.obs_width).take(16).position(|o| o[2].abs() >= 0.1);
        let Some(at) = worst else {
            assert_eq!((episode.len(), episode.end), (own.len(), own.end));
            continue;
        };
        broken += 1;
        assert_eq!((episode.len(), episode.end), (at, End::Failed));
        assert!(margins.iter().rev().skip(1).all(|m| *m > 0.0) && margins[margins.len() - 1] <= 0.0);
    }
    assert!((5..40).contains(&broken), "{broken} of 40");
}

#[test]
fn what_is_asked_for_some_time_is_judged_at_the_end() {
    let played = episodes(&judged("pendulum", &stl("eventually (cos_theta > 0.9)")), 30);
    let mut failed = 0;
    for (episode, _) in &played {
        let reached = episode.observations.chunks(3).any(|o| f64::from(o[0]) > 0.9);
        assert_eq!(episode.end == End::Failed, !reached);
        assert_eq!(episode.len(), 200);
        failed += usize::from(!reached);
    }
    assert!((1..30).contains(&failed), "{failed} of 30");
}

#[test]
fn a_failure_of_the_environment_stays_one() {
    let played = episodes(&judged("cartpole", &stl("always (abs(x) < 100)")), 10);
    assert!(played.iter().all(|(episode, m)| episode.end == End::Failed && m[m.len() - 1] <= 0.0));
}

#[test]
fn a_formula_reads_the_true_state_and_knows_commands_and_rewards() {
    let formula = stl(
        "always (abs(torque) < 2.1 and reward < 0.001 and abs(cos_theta * cos_theta + sin_theta * sin_theta - 1) < 0.001)",
    );
    let file = tempfile::NamedTempFile::new().unwrap();
    let sensor = "[sensors.eye]\nunit = \"1\"\nwhite = 0.5\nsource = \"proposal: a bad one\"\n";
    let channels = "[[observation]]\nchannels = [\"cos_theta\"]\nsensor = \"eye\"\n";
    std::fs::write(file.path(), format!("{sensor}\n{channels}")).unwrap();
    let noisy = format!("pendulum?noise={}", file.path().display());
    let played = episodes(&judged(&noisy, &formula), 5);
    assert!(played.iter().all(|(episode, _)| episode.end == End::TimedOut));
    let read = |o: &[f32]| (o[0] * o[0] + o[1] * o[1] - 1.0).abs();
    assert!(played.iter().all(|(episode, _)| episode.observations.chunks(3).any(|o| read(o) > 0.1)));
    let error = Judged::new(environment("pendulum"), &stl("always (speed < 3)")).err().unwrap();
    assert_eq!(
        format!("{error:#}"),
        "environment pendulum: formula: expected one of the signals cos_theta, sin_theta, theta_velocity, torque, reward, \
         found \"speed\""
    );
}
