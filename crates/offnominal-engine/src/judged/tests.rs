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
    several(&[text])
}

fn several(texts: &[&str]) -> Criterion {
    Criterion::Stl(texts.iter().map(|text| Formula::parse(text).unwrap()).collect())
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
    let two = several(&["always (abs(theta) < 0.05)", "always (abs(x) < 0.1)"]);
    for criterion in [Criterion::ReturnBelow(20.0), stl("always (abs(x) < 1 and push < 2)"), two] {
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

#[test]
fn of_several_formulas_each_is_judged_as_it_would_be_alone() {
    let texts =
        ["always[0, 0.3] (abs(theta) < 0.1)", "always (abs(x) < 0.1)", "eventually[0, 0.2] (x > 0.05)"];
    let together = judged("cartpole", &several(&texts));
    assert_eq!(together.requirements().len(), 4, "the environment's own rule is the last");
    let (plain, mut seen) = (episodes(environment("cartpole").as_ref(), 40), [[0; 2]; 3]);
    let policy = Random::new(&together.spec().action);
    let trial = Trial::new(&together, &policy);
    for (seed, (own, _)) in (0..).zip(&plain) {
        let key = Seed(seed);
        let mut margins = vec![f64::INFINITY; 4];
        let x = together.draw(&mut key.rng());
        let episode = trial.starting_at(x, key, &mut |env| {
            (0..4).for_each(|i| margins[i] = margins[i].min(env.failure_search().margin_of(i)));
        });
        for (text, (margin, seen)) in texts.iter().zip(margins.iter().zip(&mut seen)) {
            let broken = is_broken(text, seed);
            assert_eq!(*margin <= 0.0, broken, "{text} in episode {seed}: {margins:?}");
            seen[usize::from(broken)] += 1;
        }
        let any = margins.iter().any(|margin| *margin <= 0.0);
        assert_eq!(episode.end == End::Failed, any);
        assert_eq!(episode.len(), own.len(), "what is broken ends nothing");
    }
    assert!(seen.iter().flatten().all(|n| *n > 0), "{seen:?}");
}

/// Whether an episode with random commands breaks a formula, by the formula on the recorded signals.
fn is_broken(text: &str, seed: u64) -> bool {
    let (env, formula) = (environment("cartpole"), Formula::parse(text).unwrap());
    let policy = Random::new(&env.spec().action);
    let names: Vec<String> = env.spec().observation.iter().map(|channel| channel.name.clone()).collect();
    let mut monitor = Monitor::new(&formula, &names, env.spec().dt_secs).unwrap();
    let episode = Trial::new(env.as_ref(), &policy).starting_at(
        env.draw(&mut Seed(seed).rng()),
        Seed(seed),
        &mut |_| (),
    );
    for row in episode.observations.chunks(episode.obs_width) {
        monitor.push(&row.iter().map(|x| f64::from(*x)).collect::<Vec<f64>>());
    }
    monitor.finish() <= 0.0
}

#[test]
fn a_single_formula_stands_alone_in_files_and_several_as_a_list() {
    let (one, two) = (stl("always (x < 1)"), several(&["always (x < 1)", "always (x > -1)"]));
    assert_eq!(json!(one), json!({ "stl": "always (x < 1)" }));
    assert_eq!(json!(two), json!({ "stl": ["always (x < 1)", "always (x > -1)"] }));
    for criterion in [one, two] {
        assert_eq!(serde_json::from_value::<Criterion>(json!(criterion)).unwrap(), criterion);
    }
}
