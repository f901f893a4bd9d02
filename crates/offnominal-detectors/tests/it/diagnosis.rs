//! Diagnoses of small faults in a small system, and of files that nobody wrote.

use crate::spoiled::spoiled;
use offnominal_core::archive::Archive;
use offnominal_core::prelude::*;
use offnominal_detectors::diagnosis::{Diagnoser, Diagnosis, Direction, Family, Fault, Hypothesis};
use offnominal_laws::nominal_episodes;

fn fitted() -> Diagnoser {
    let episodes = nominal_episodes(Seed(1), 24, 40);
    let views: Vec<_> = episodes.iter().map(|e| e.signals()).collect();
    Diagnoser::fit(&views, &mut Rng::new(1), FitProgress::unseen()).unwrap()
}

/// What is said at step 29 of fresh episodes, each of whose transitions is changed from step 20 on.
fn said(diagnoser: &mut Diagnoser, change: impl Fn(usize, [&mut Vec<f32>; 3])) -> Vec<Diagnosis> {
    let one = |episode: &Signals<'_>| {
        diagnoser.reset();
        for (t, seen) in episode.transitions().enumerate().take(30) {
            let [mut obs, mut action, mut next] = [seen.obs, seen.action, seen.next_obs].map(<[f32]>::to_vec);
            if t >= 20 {
                change(t, [&mut obs, &mut action, &mut next]);
            }
            diagnoser.observe(&Transition { obs: &obs, action: &action, next_obs: &next });
        }
        diagnoser.diagnose(0).clone()
    };
    nominal_episodes(Seed(2), 20, 40)
        .iter()
        .map(|e| e.signals())
        .collect::<Vec<_>>()
        .iter()
        .map(one)
        .collect()
}

fn share(said: &[Diagnosis], right: impl Fn(&Diagnosis) -> bool) -> f64 {
    said.iter().filter(|d| right(d)).count() as f64 / said.len() as f64
}

#[test]
fn a_sensor_a_command_and_a_force_are_told_apart() {
    let mut diagnoser = fitted();
    let jitter = |t: usize| if t.is_multiple_of(2) { 0.4 } else { -0.4 };
    let sensor = said(&mut diagnoser, |t, [obs, _, next]| {
        obs[2] += if t > 20 { jitter(t) } else { 0.0 };
        next[2] += jitter(t + 1);
    });
    assert!(share(&sensor, |d| d.family == Family::Observation) > 0.8, "{:?}", sensor[0]);
    assert!(share(&sensor, |d| d.channels[0].channel == 2 && d.channels[0].size > 3.0) > 0.9);
    assert!(share(&sensor, |d| d.steps_ago.abs_diff(9) <= 1) > 0.8, "{:?}", sensor[0]);
    // What was done differs from the action by a half.
    let command = said(&mut diagnoser, |_, [_, action, _]| action[0] -= 0.5);
    assert!(share(&command, |d| d.family == Family::Action) > 0.8, "{:?}", command[0]);
}

#[test]
fn without_commands_the_family_is_unknown_until_faults_are_taught() {
    // No commands, and commands that never vary.
    for width in [0, 1] {
        let episodes = nominal_episodes(Seed(1), 24, 40);
        let still = vec![0.5; 40 * width];
        let views: Vec<_> =
            episodes.iter().map(|e| Signals::new(e.signals().observations(), &still, 3, width)).collect();
        let mut diagnoser = Diagnoser::fit(&views, &mut Rng::new(1), FitProgress::unseen()).unwrap();
        for seen in views[0].transitions() {
            diagnoser.observe(&seen);
        }
        let found = diagnoser.diagnose(0);
        assert_eq!((found.family, found.probabilities), (Family::Unknown, [1.0 / 3.0; 3]));
    }
}

/// An episode with a fault from step 20 on.
struct Faulty {
    obs: Vec<f32>,
    actions: Vec<f32>,
    size: f64,
}

impl Faulty {
    fn signals(&self) -> Signals<'_> {
        Signals::new(&self.obs, &self.actions, 3, 1)
    }
}

/// Fresh episodes with an offset of the first channel, or of the command, of growing size.
fn faulty(seed: u64, n: usize, is_sensor: bool) -> Vec<Faulty> {
    let mut all = Vec::new();
    for (i, episode) in nominal_episodes(Seed(seed), n, 40).iter().enumerate() {
        let (signals, size) = (episode.signals(), 0.3 + 0.05 * i as f64);
        let (mut obs, mut actions) = (signals.observations().to_vec(), signals.actions().to_vec());
        match is_sensor {
            true => obs[21 * 3..].iter_mut().step_by(3).for_each(|x| *x += size as f32),
            false => actions[20..].iter_mut().for_each(|x| *x -= size as f32),
        }
        all.push(Faulty { obs, actions, size });
    }
    all
}

fn taught() -> (Diagnoser, Vec<Hypothesis>) {
    let mut diagnoser = fitted();
    let of = |anomaly: &str, family| Hypothesis {
        anomaly: anomaly.into(),
        family,
        neutral: 0.0,
        direction: Direction::Up,
    };
    let hypotheses = vec![of("obs-offset", Family::Observation), of("act-offset", Family::Action)];
    let examples = [faulty(3, 24, true), faulty(4, 24, false)];
    let mut faults = Vec::new();
    for (hypothesis, examples) in examples.iter().enumerate() {
        for example in examples {
            let (signals, magnitude) = (example.signals(), example.size);
            faults.push(Fault { hypothesis, magnitude, signals, alarm: 21 });
        }
    }
    diagnoser.teach(hypotheses.clone(), &faults, &mut Rng::new(5), FitProgress::unseen()).unwrap();
    (diagnoser, hypotheses)
}

#[test]
fn taught_faults_are_named_with_their_size() {
    let (mut diagnoser, hypotheses) = taught();
    let mut archive = Archive::default();
    diagnoser.save(&mut archive.writer());
    let mut again = Diagnoser::load(&archive.reader(3, 1), &hypotheses).unwrap();
    for (true_one, is_sensor) in [(0, true), (1, false)] {
        let (mut right, mut covered, mut errors) = (0, 0, Vec::new());
        for fault in faulty(6, 20, is_sensor) {
            let found = |d: &mut Diagnoser| {
                d.reset();
                fault.signals().transitions().take(30).for_each(|seen| d.observe(&seen));
                d.diagnose(8).clone()
            };
            let said = found(&mut diagnoser);
            assert_eq!(said, found(&mut again));
            let first = said.suspects[0];
            right += usize::from(first.hypothesis == true_one);
            covered += usize::from(said.suspects.iter().any(|s| s.is_compatible && s.hypothesis == true_one));
            errors.push((first.magnitude / fault.size).ln().abs());
        }
        errors.sort_unstable_by(f64::total_cmp);
        assert!(right >= 18 && covered >= 17 && errors[10] < 0.4, "{true_one}: {right} {covered} {errors:?}");
    }
}

#[test]
fn without_a_hypothesis_nothing_is_named_and_the_family_stays() {
    let (mut plain, mut taught) = (fitted(), taught().0);
    taught.teach(vec![], &[], &mut Rng::new(1), FitProgress::unseen()).unwrap();
    let offset = |_: usize, [_, action, _]: [&mut Vec<f32>; 3]| action[0] -= 0.5;
    assert_eq!(said(&mut plain, offset), said(&mut taught, offset));
}

#[test]
fn a_diagnosis_that_was_kept_says_the_same() {
    let mut diagnoser = fitted();
    let mut archive = Archive::default();
    diagnoser.save(&mut archive.writer());
    let mut again = Diagnoser::load(&archive.reader(3, 1), &[]).unwrap();
    let drift = |t: usize, [_, _, next]: [&mut Vec<f32>; 3]| next[0] += 0.02 * (t - 19) as f32;
    assert_eq!(said(&mut diagnoser, drift), said(&mut again, drift));
}

#[test]
fn lists_that_nobody_wrote_never_stop_the_program() {
    let mut archive = Archive::default();
    let (whole, hypotheses) = taught();
    whole.save(&mut archive.writer());
    let episode = nominal_episodes(Seed(2), 1, 10).remove(0);
    for name in archive.lists.keys() {
        let mut without = archive.clone();
        without.lists.remove(name);
        let error = Diagnoser::load(&without.reader(3, 1), &hypotheses).err();
        assert_eq!(error, Some(ArchiveError::Missing { place: name.clone() }));
        for numbers in spoiled(&archive.lists[name]) {
            let mut other = archive.clone();
            other.lists.insert(name.clone(), numbers);
            let Ok(mut diagnoser) = Diagnoser::load(&other.reader(3, 1), &hypotheses) else { continue };
            episode.signals().transitions().for_each(|seen| diagnoser.observe(&seen));
            diagnoser.diagnose(0);
        }
    }
}

#[test]
fn where_nothing_is_commanded_there_is_a_diagnosis_nevertheless() {
    let mut rng = Rng::new(3);
    let rows: Vec<Vec<f32>> = (0..8).map(|_| (0..31).map(|_| rng.normal() as f32).collect()).collect();
    let views: Vec<_> = rows.iter().map(|obs| Signals::new(obs, &[0.5; 30], 1, 1)).collect();
    let mut diagnoser = Diagnoser::fit(&views, &mut Rng::new(1), FitProgress::unseen()).unwrap();
    diagnoser.observe(&Transition { obs: &[0.0], action: &[0.5], next_obs: &[90.0] });
    let found = diagnoser.diagnose(0);
    assert!(found.channels.len() == 1 && found.channels[0].size > 10.0, "{found:?}");
}
