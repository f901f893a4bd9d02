//! Policies that make several predictions: dropout, dropconnect, ensembles, and their single predictions.

use crate::environments::Point;
use offnominal_agents::config::{Normalise, OutputActivation};
use offnominal_agents::{Actor, PASSES, TrainConfig, Trainer};
use offnominal_core::env::Env;
use offnominal_core::policy::Policy;
use offnominal_core::{Rng, Seed};
use offnominal_laws::{assert_lawful, policy};
use offnominal_nets::Tensors;

const OBS: [f32; 2] = [0.4, -0.3];
const WIDTH: usize = 9;

fn config(algorithm: &str) -> TrainConfig {
    TrainConfig {
        steps: 120,
        learning_starts: 40,
        batch: 8,
        hidden: vec![12, WIDTH],
        normalise: Normalise::Running,
        ..TrainConfig::for_env("point").with_algorithm(algorithm).unwrap()
    }
}

fn trained(config: TrainConfig, seed: u64) -> Actor {
    let point = point(&config.algorithm);
    let mut run = Trainer::new(config, &point, Seed(seed)).unwrap();
    run.advance(120);
    run.actor()
}

fn point(algorithm: &str) -> Point {
    if algorithm == "dqn" { Point::with_choices() } else { Point::new() }
}

/// One of each kind, for real actions and for choices.
fn all() -> Vec<Actor> {
    let kinds = |algorithm: &str| {
        let member = |seed| trained(config(algorithm), seed);
        [
            trained(TrainConfig { dropout: 0.2, ..config(algorithm) }, 1),
            trained(TrainConfig { dropconnect: 0.2, ..config(algorithm) }, 1),
            Actor::ensemble((1..4).map(member).collect()).unwrap(),
        ]
    };
    [kinds("ddpg"), kinds("dqn")].into_iter().flatten().collect()
}

fn act(actor: &Actor, obs: &[f32]) -> f32 {
    let mut action = [f32::NAN];
    actor.clone().act(obs, &mut action, &mut Rng::new(7));
    action[0]
}

#[test]
fn they_obey_the_laws_of_policies_and_survive_their_files() {
    for actor in all() {
        let spec = point(actor.algorithm()).spec().clone();
        assert_lawful(actor.algorithm(), &policy(&actor, &spec, &[]));
        let read = Actor::from_bytes(&actor.to_bytes(), &spec).unwrap();
        assert_eq!(read.to_bytes(), actor.to_bytes());
        assert_eq!(read.n_predictions(), actor.n_predictions());
        for i in 0..10 {
            let obs = [0.3 * i as f32 - 1.5, 0.7 - 0.1 * i as f32];
            assert_eq!(act(&read, &obs), act(&actor, &obs));
        }
    }
}

#[test]
fn a_policy_acts_on_the_mean_of_its_predictions() {
    for actor in all() {
        let mut samples = actor.samples(None).unwrap();
        let n = samples.shape().predictions;
        let found = samples.predict(&OBS, &mut Rng::new(7));
        let (heads, actions) = (found.heads, found.actions);
        assert_eq!((found.features.len(), actions.len()), (n * WIDTH, n));
        assert!(heads.chunks_exact(heads.len() / n).any(|row| row != &heads[..heads.len() / n]));
        if actor.algorithm() == "ddpg" {
            assert!(heads.iter().zip(actions).all(|(z, c)| (2.0 * z.tanh() - c).abs() < 1e-5));
            let mean = actions.iter().sum::<f32>() / n as f32;
            assert!((mean - act(&actor, &OBS)).abs() < 1e-5, "{mean}");
        } else {
            let mean = |a: usize| heads.iter().skip(a).step_by(3).sum::<f32>();
            let best = (0..3).max_by(|&a, &b| mean(a).total_cmp(&mean(b))).unwrap();
            assert_eq!(act(&actor, &OBS), best as f32);
            for (row, action) in heads.chunks_exact(3).zip(actions) {
                assert!(row.iter().all(|&q| q <= row[*action as usize]));
            }
        }
    }
}

#[test]
fn a_linear_output_is_cut_at_the_bounds_and_survives_its_file() {
    for dropout in [0.0, 0.2] {
        let linear = OutputActivation::Linear;
        let actor = trained(TrainConfig { output_activation: linear, dropout, ..config("ddpg") }, 1);
        let mut file = Tensors::from_bytes(&actor.to_bytes()).unwrap();
        file.insert("actor.2.bias", &[1], &[1.0]);
        let actor = Actor::from_bytes(&file.to_bytes(), Point::new().spec()).unwrap();
        let read = Actor::from_bytes(&actor.to_bytes(), Point::new().spec()).unwrap();
        let mut cut = 0;
        for i in 0..40 {
            let obs = [i as f32 - 20.0, 10.0 - 0.5 * i as f32];
            let mut samples = actor.samples(None).unwrap();
            let heads = samples.predict(&obs, &mut Rng::new(7)).heads;
            let mean = 2.0 * heads.iter().sum::<f32>() / heads.len() as f32;
            cut += usize::from(mean.abs() > 2.0);
            assert!((act(&actor, &obs) - mean.clamp(-2.0, 2.0)).abs() < 1e-5, "{mean}");
            assert_eq!(act(&read, &obs), act(&actor, &obs));
        }
        assert!(cut > 0, "no action lies beyond the bounds");
    }
}

/// Members that were trained apart saw other observations, so each keeps its own normalisation.
#[test]
fn the_predictions_of_an_ensemble_are_those_of_its_members() {
    let members: Vec<Actor> = (1..4).map(|seed| trained(config("ddpg"), seed)).collect();
    let ensemble = Actor::ensemble(members.clone()).unwrap();
    let mut samples = ensemble.samples(Some(3)).unwrap();
    let found = samples.predict(&OBS, &mut Rng::new(1)).actions.to_vec();
    assert_eq!(found, members.iter().map(|m| act(m, &OBS)).collect::<Vec<_>>());
}

#[test]
fn members_with_priors_differ_more_where_they_have_not_been() {
    let spread = |prior: f64, obs: [f32; 2]| {
        let recipe = TrainConfig { prior, normalise: Normalise::None, ..config("dqn") };
        let members = (1..6).map(|seed| trained(recipe.clone(), seed)).collect();
        let mut samples = Actor::ensemble(members).unwrap().samples(None).unwrap();
        let heads = samples.predict(&obs, &mut Rng::new(1)).heads.to_vec();
        let of = |choice: usize| heads.iter().skip(choice).step_by(3).copied().collect::<Vec<f32>>();
        let variance = |v: Vec<f32>| {
            let mean = v.iter().sum::<f32>() / v.len() as f32;
            v.iter().map(|x| (x - mean).powi(2)).sum::<f32>()
        };
        (0..3).map(|choice| variance(of(choice))).sum::<f32>()
    };
    let far = [40.0, -40.0];
    assert!(spread(10.0, far) > 9.0 * spread(0.0, far), "{} {}", spread(10.0, far), spread(0.0, far));
}

#[test]
fn more_passes_settle_on_the_same_mean() {
    let actor = trained(TrainConfig { dropout: 0.3, ..config("ddpg") }, 1);
    assert_eq!(actor.n_predictions(), PASSES);
    let spread = |passes: usize| {
        let (mut actor, mut rng) = (actor.clone().with_passes(passes).unwrap(), Rng::new(3));
        let mut actions = [0.0_f32; 200];
        actions.iter_mut().for_each(|c| actor.act(&OBS, std::slice::from_mut(c), &mut rng));
        let mean = actions.iter().sum::<f32>() / 200.0;
        actions.iter().map(|c| (c - mean).powi(2)).sum::<f32>() / 200.0
    };
    let ratio = spread(2) / spread(50);
    assert!((12.0..60.0).contains(&ratio), "the variance falls as one over the passes, so by 25: {ratio}");
}

#[track_caller]
fn refuse<E: std::fmt::Debug + ToString>(found: Result<(), E>, want: &str) {
    let found = found.unwrap_err().to_string();
    assert!(found.contains(want), "{found}");
}

#[test]
fn impossible_requests_are_refused_with_a_reason() {
    let (plain, wide) = (trained(config("ddpg"), 1), TrainConfig { hidden: vec![5], ..config("ddpg") });
    let dropping = trained(TrainConfig { dropout: 0.2, ..config("ddpg") }, 1);
    let ensemble = Actor::ensemble(vec![plain.clone(), plain.clone()]).unwrap();
    let none = "expected one with dropout, dropconnect or several members, found a plain network of ddpg";
    refuse(plain.samples(Some(5)).map(drop), none);
    refuse(plain.clone().with_passes(5).map(drop), none);
    refuse(dropping.samples(Some(1)).map(drop), "expected at least 2, found 1");
    refuse(ensemble.samples(Some(5)).map(drop), "expected one for each of the 2 members, found 5");
    refuse(Actor::ensemble(vec![plain.clone()]).map(drop), "expected at least two members, found 1");
    let unlike = Actor::ensemble(vec![plain.clone(), plain.clone(), trained(wide, 1)]).map(drop);
    refuse(unlike, "member 2 of the ensemble: expected ddpg in point with widths [2, 12, 9, 1], found");
    let mixed = Actor::ensemble(vec![plain.clone(), dropping]).map(drop);
    refuse(mixed, "member 1 of the ensemble: expected a plain network, found one that drops");
    refuse(Actor::ensemble(vec![ensemble, plain]).map(drop), "found an ensemble of 2");
}

#[test]
fn edited_files_are_refused_with_a_reason() {
    let (spec, actors) = (Point::new().spec().clone(), all());
    let refuse = |actor: &Actor, edit: &dyn Fn(&mut Tensors), want: &str| {
        let mut file = Tensors::from_bytes(&actor.to_bytes()).unwrap();
        edit(&mut file);
        let found = Actor::from_bytes(&file.to_bytes(), &spec).unwrap_err().to_string();
        assert!(found.contains(want), "{found}");
    };
    let set = |key: &'static str, value: &'static str| {
        move |f: &mut Tensors| drop(f.metadata.insert(key.into(), value.into()))
    };
    let (dropping, ensemble) = (&actors[0], &actors[2]);
    refuse(dropping, &set("dropout", "1.5"), "expected \"a probability below 1\", found \"1.5\"");
    refuse(dropping, &set("dropout", "0"), "found a plain network");
    refuse(dropping, &set("passes", "1"), "expected at least 2 passes, found 1");
    refuse(dropping, &set("members", "many"), "expected \"a count up to 1000\", found \"many\"");
    refuse(dropping, &set("output_activation", "relu"), "expected \"tanh or linear\", found \"relu\"");
    refuse(ensemble, &set("members", "4"), "expected a tensor \"3.actor.0.weight\"");
    refuse(ensemble, &|f| f.insert("1.actor.0.bias", &[1], &[0.0]), "expected shape [12], found [1]");
}

#[test]
fn a_policy_tells_of_itself_what_it_is() {
    let actor = trained(config("ddpg"), 1);
    let shape = actor.samples(None).unwrap().shape();
    assert_eq!((shape.predictions, shape.members, shape.features, shape.is_choice), (1, 1, WIDTH, false));
    let why = actor.samples(Some(5)).err().unwrap().to_string();
    assert!(why.contains("found a plain network of ddpg"), "{why}");
    let members = (1..4).map(|seed| trained(config("dqn"), seed)).collect();
    let shape = Actor::ensemble(members).unwrap().samples(None).unwrap().shape();
    assert_eq!((shape.predictions, shape.members, shape.heads, shape.is_choice), (3, 3, 3, true));
}
