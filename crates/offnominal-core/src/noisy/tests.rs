//! Twins get equal draws; no noise is identical bits; each term has the statistics of its closed form.

use super::*;
use crate::anomaly::Anomaly;
use crate::anomaly_spec::AnomalySpec;
use crate::catalogue::Catalogue;
use crate::run::Trial;
use crate::schedule::{Extent, Onset, Schedule};
use crate::spec::EnvSpec;
use crate::spec::ParameterError;
use serde::Deserialize;
use serde_json::json;

mod law;

const DT_SECS: f64 = 0.25;

/// Holds the last command it got and draws from its own stream.
#[derive(Clone)]
struct Echo(EnvSpec, f64, f64);

impl Env for Echo {
    fn spec(&self) -> &EnvSpec {
        &self.0
    }
    fn draw(&self, rng: &mut Rng) -> Vec<f64> {
        vec![rng.uniform()]
    }
    fn start(&mut self, x: &[f64], rng: &mut Rng) {
        (self.1, self.2) = (x[0], rng.uniform());
    }
    fn observe(&self, obs: &mut [f32]) {
        (obs[0], obs[1]) = (self.1 as f32, self.2 as f32);
    }
    fn step(&mut self, action: &[f32], rng: &mut Rng) -> Step {
        (self.1, self.2) = (f64::from(action[0]), rng.uniform());
        Step::running(self.1)
    }
    fn set_parameter(&mut self, name: &str, _: f64) -> Result<(), ParameterError> {
        self.0.parameter(name).map(|_| ())
    }
    fn fork(&self) -> Option<Box<dyn Env>> {
        Some(Box::new(self.clone()))
    }
}

fn echo() -> Echo {
    let spec = EnvSpec {
        observation: vec![
            Channel::unbounded("x", "the last command", "m"),
            Channel::new("own", "the environment's draw", "m", -9.0, 9.0),
        ],
        action: vec![Channel::unbounded("push", "what is echoed", "m")],
        dt_secs: DT_SECS,
        horizon: 4000,
        initial: vec!["x".into()],
        ..EnvSpec::new("echo", "a fixture")
    };
    Echo(spec, 0.0, 0.0)
}

fn noise(x: Term, push: Term, jitter_secs: f64) -> NominalNoise {
    NominalNoise { observation: vec![x, Term::default()], action: vec![push], jitter_secs }
}

fn noisy(noise: NominalNoise) -> Noisy<'static> {
    Noisy::new(Box::new(echo()), noise, "echo?noise=test", "Noise.").unwrap()
}

/// Commands 2, −2, 2, … so that readings have a known true value.
#[derive(Clone)]
struct Alternating(f32);

impl crate::policy::Policy for Alternating {
    fn reset(&mut self) {
        self.0 = -2.0;
    }
    fn act(&mut self, _: &[f32], action: &mut [f32], _: &mut Rng) {
        self.0 = -self.0;
        action[0] = self.0;
    }
    fn fork(&self) -> Box<dyn crate::policy::Policy> {
        Box::new(self.clone())
    }
}

/// Errors of the readings of x in one episode, and the true values.
fn errors(noise: NominalNoise, seed: u64) -> Vec<f64> {
    let env = noisy(noise);
    let episode = Trial::new(&env, &Alternating(0.0)).nominal(Seed(seed));
    let truth = |t: usize| if t % 2 == 1 { 2.0 } else { -2.0 };
    let readings = episode.observations.chunks(2).enumerate().skip(1);
    readings.map(|(t, obs)| f64::from(obs[0]) - truth(t)).collect()
}

fn variance(x: &[f64]) -> f64 {
    x.iter().map(|e| e * e).sum::<f64>() / x.len() as f64
}

#[track_caller]
fn near(found: f64, want: f64, tolerance: f64) {
    assert!((found / want - 1.0).abs() < tolerance, "expected {want}, found {found}");
}

#[test]
fn without_terms_an_episode_has_the_same_bits() {
    let (plain, none) = (echo(), noisy(noise(Term::default(), Term::default(), 0.0)));
    let policy = Alternating(0.0);
    for seed in 0..5 {
        let (a, b) =
            (Trial::new(&plain, &policy).nominal(Seed(seed)), Trial::new(&none, &policy).nominal(Seed(seed)));
        assert_eq!(
            (a.initial, a.observations, a.actions, a.rewards),
            (b.initial, b.observations, b.actions, b.rewards)
        );
    }
}

#[test]
fn noise_takes_nothing_from_the_environments_stream() {
    let (plain, env) = (echo(), noisy(noise(Term { white: 1.0, ..Term::default() }, Term::default(), 0.1)));
    let own = |env: &dyn Env| -> Vec<f32> {
        let episode = Trial::new(env, &Alternating(0.0)).nominal(Seed(3));
        episode.observations.chunks(2).map(|o| o[1]).collect()
    };
    assert_eq!(own(&plain), own(&env));
}

#[derive(Deserialize)]
struct Push {
    magnitude: f64,
}

impl Anomaly for Push {
    fn on_action(&mut self, action: &mut [f32], rng: &mut Rng) {
        action[0] += self.magnitude as f32 + 0.0 * rng.normal() as f32;
    }
}

#[test]
fn twins_get_equal_draws_after_the_onset_too() {
    let all: Catalogue<dyn Anomaly> =
        Catalogue::new("anomaly", &[crate::entry!(Push as dyn Anomaly, "push", "a fixture")]);
    let terms = Term { white: 0.5, turn_on: 0.5, walk: 0.1, tau_secs: 3.0, ..Term::default() };
    let env = noisy(noise(terms, Term { white: 0.25, ..Term::default() }, 0.0));
    let schedule = Schedule { onset: Onset::At(10), extent: Extent::ToEnd };
    let spec = AnomalySpec { anomaly: "push".into(), params: json!({"magnitude": 8.0}), schedule };
    let trial = Trial { horizon: 60, ..Trial::new(&env, &Alternating(0.0)) };
    let (anomalous, twin) = trial.with_twin(Seed(7), &spec, &all).unwrap();
    let difference = |t: usize| anomalous.observations[2 * t] - twin.observations[2 * t];
    // The push is all that remains of the difference, as the noise of both is the same.
    assert!((0..=10).all(|t| difference(t) == 0.0));
    assert!(
        (11..=60).all(|t| (difference(t) - 8.0).abs() < 1e-5),
        "{:?}",
        (11..=60).map(difference).collect::<Vec<_>>()
    );
}

#[test]
fn seeds_differ_and_an_episode_is_repeated_by_its_seed() {
    let of = |seed| errors(noise(Term { white: 1.0, ..Term::default() }, Term::default(), 0.0), seed);
    assert_eq!(of(1), of(1));
    assert_ne!(of(1), of(2));
}

#[test]
fn white_noise_has_its_variance() {
    let found = errors(noise(Term { white: 0.3, ..Term::default() }, Term::default(), 0.0), 1);
    near(variance(&found), 0.09, 0.08);
    let found =
        errors(noise(Term { white: 0.1, proportional: 0.2, ..Term::default() }, Term::default(), 0.0), 1);
    near(variance(&found), 0.25, 0.08);
}

#[test]
fn a_bias_is_constant_in_an_episode_and_has_its_variance_over_episodes() {
    let of = |seed| errors(noise(Term { turn_on: 0.4, ..Term::default() }, Term::default(), 0.0), seed);
    let first: Vec<f64> = (0..800)
        .map(|seed| {
            let found = of(seed);
            assert!((found[0] - found[found.len() - 1]).abs() < 1e-6);
            found[0]
        })
        .collect();
    near(variance(&first), 0.16, 0.2);
}

#[test]
fn drift_has_the_variance_of_its_equation() {
    // Stationary: w² τ / 2; after n steps of a walk: w² n dt.
    let drift = Term { walk: 0.5, tau_secs: 2.0, ..Term::default() };
    near(variance(&errors(noise(drift, Term::default(), 0.0), 1)[100..]), 0.25, 0.25);
    let walk = Term { walk: 0.5, ..Term::default() };
    let at = 400;
    let ends: Vec<f64> =
        (0..600).map(|seed| errors(noise(walk, Term::default(), 0.0), seed)[at - 2]).collect();
    near(variance(&ends), 0.25 * at as f64 * DT_SECS, 0.2);
}

#[test]
fn readings_are_quantised_after_their_noise() {
    let term = Term { white: 0.3, quantum: 0.5, ..Term::default() };
    let found = errors(noise(term, Term::default(), 0.0), 1);
    assert!(found.iter().all(|e| (e / 0.5).fract().abs() < 1e-6), "a reading is off the grid");
    // Sheppard's correction: rounding adds q²/12.
    near(variance(&found), 0.09 + 0.25 / 12.0, 0.1);
}

#[test]
fn a_late_command_is_blended_with_the_one_before() {
    // The mean of |N(0, 1)| is √(2/π): a switch from −2 to 2 loses 4 · 0.02 √(2/π) / 0.25 on average.
    let found = errors(noise(Term::default(), Term::default(), 0.02), 1);
    let lost: f64 = found.iter().skip(1).map(|e| e.abs()).sum::<f64>() / (found.len() - 1) as f64;
    near(lost, 4.0 * 0.02 * (2.0 / std::f64::consts::PI).sqrt() / DT_SECS, 0.05);
    assert_eq!(found[0], 0.0, "nothing comes before the first command");
    assert_eq!([delayed(1.0, 0.0, 0.6, true), delayed(1.0, 0.0, 0.4, true)], [0.0, 1.0]);
}

#[test]
fn readings_stay_within_their_bounds_and_empty_ones_stay_empty() {
    let channel = [Channel::new("range", "to the nearest thing; 1 = none", "m", 0.0, 1.0)];
    let term = [Term { white: 5.0, bounds_are_empty: true, ..Term::default() }];
    let mut process = Process::new(1);
    let mut source = Source::new();
    for _ in 0..50 {
        process.advance(&term, DT_SECS, &mut source);
        let (mut near, mut none) = ([0.5], [1.0]);
        process.read(&term, &channel, &mut near);
        process.read(&term, &channel, &mut none);
        assert!((0.0..=1.0).contains(&near[0]) && none[0] == 1.0);
    }
}

#[test]
fn noise_that_does_not_fit_is_refused() {
    let refused = |noise| Noisy::new(Box::new(echo()), noise, "x", "").err().unwrap().to_string();
    let short = NominalNoise { observation: vec![], action: vec![], jitter_secs: 0.0 };
    assert_eq!(refused(short), "noise of the observations of echo: expected 2 terms, found 0");
    let negative = noise(Term { white: -1.0, ..Term::default() }, Term::default(), 0.0);
    assert_eq!(refused(negative), "noise of x: white: expected a finite number from 0 upwards, found -1");
    let endless = noise(Term::default(), Term::default(), f64::INFINITY);
    assert_eq!(
        refused(endless),
        "noise of the clock: jitter_secs: expected a finite number from 0 upwards, found inf"
    );
}

/// Noise with every term.
fn of_all_terms() -> NominalNoise {
    let terms = Term { white: 0.5, turn_on: 0.5, walk: 0.1, tau_secs: 3.0, ..Term::default() };
    noise(terms, Term { proportional: 0.25, turn_on: 0.1, ..Term::default() }, 0.01)
}

#[test]
fn numbers_are_named_in_the_order_in_which_they_are_taken() {
    let env = noisy(of_all_terms());
    let numbers = env.noise_numbers().unwrap();
    assert_eq!(numbers.start, ["x: bias", "command push: bias"]);
    assert_eq!(numbers.step, ["x: noise", "x: drift", "command push: noise", "latency"]);
    // One sensor bias of 2 standard deviations, and no noise besides.
    let mut chosen = noisy(of_all_terms());
    chosen.choose_noise(&[2.0].into());
    let episode = Trial { horizon: 5, ..Trial::new(&chosen, &Alternating(0.0)) }.nominal(Seed(1));
    let read: Vec<f32> = episode.observations.chunks(2).skip(1).map(|o| o[0]).collect();
    assert_eq!(read, [3.0, -1.0, 3.0, -1.0, 3.0], "the command alternates between 2 and -2");
}

#[test]
fn the_numbers_that_would_be_drawn_give_the_same_bits_if_they_are_chosen() {
    let mut env = noisy(of_all_terms());
    let play = |env: &dyn Env| Trial { horizon: 40, ..Trial::new(env, &Alternating(0.5)) }.nominal(Seed(5));
    let drawn = play(&env);
    let mut rng = stream(&Seed(5).child("world").rng());
    let all: Vec<f64> = (0..2 + 41 * 4).map(|_| rng.normal()).collect();
    env.choose_noise(&all.into());
    assert_eq!(play(&env), drawn);
    // Copies have them too, and where they end there is no noise.
    env.choose_noise(&[].into());
    let plain = Trial { horizon: 40, ..Trial::new(&echo(), &Alternating(0.5)) }.nominal(Seed(5));
    assert_eq!(play(env.fork().unwrap().as_ref()).observations, plain.observations);
}
