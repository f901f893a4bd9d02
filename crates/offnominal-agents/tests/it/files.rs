//! Policy files: what is written is what acts, and nothing else is accepted.

use crate::environments::{Pendulum, Point};
use offnominal_agents::config::Normalise;
use offnominal_agents::{ALL, Actor, Algorithm, TrainConfig, Trainer};
use offnominal_core::env::Env;
use offnominal_core::policy::Policy;
use offnominal_core::spec::{Channel, EnvSpec};
use offnominal_core::{Rng, Seed};
use offnominal_laws::{assert_lawful, policy};
use offnominal_nets::{Activation, Mlp, Tensors};
use proptest::prelude::*;

fn trained() -> Actor {
    trained_by(&ALL[0])
}

fn trained_by(algorithm: &Algorithm) -> Actor {
    let config = TrainConfig {
        steps: 60,
        learning_starts: 20,
        batch: 8,
        hidden: vec![9],
        normalise: Normalise::Running,
        ..TrainConfig::for_env("point").with_algorithm(algorithm.id).unwrap()
    };
    let mut run = Trainer::new(config, &Point::for_algorithm(algorithm), Seed(1)).unwrap();
    run.advance(60);
    run.actor()
}

#[test]
fn numbers_in_a_file_that_never_end_are_refused() {
    let spec = EnvSpec {
        observation: vec![Channel::unbounded("x", "a number", "1")],
        action: vec![Channel::new("u", "an action", "1", -1.0, 1.0)],
        ..EnvSpec::new("small", "an environment of numbers")
    };
    let net = Mlp::new(&[1, 4, 1], Activation::Relu).with_dropout(0.5);
    let actor = Actor::new(&spec, "td3", net.clone(), vec![0.1; net.n_params()], None);
    let mut file = Tensors::from_bytes(&actor.to_bytes()).unwrap();
    file.metadata.insert("passes".into(), "1000000000000".into());
    let error = Actor::from_bytes(&file.to_bytes(), &spec).err().unwrap().to_string();
    assert!(error.contains("expected at most 16384 passes, found 1000000000000"), "{error}");
    let image = Channel::image("image", "what is seen", offnominal_core::channel::Image::grey(1, 64, 64));
    let seen = EnvSpec { observation: vec![image], ..spec };
    for filters in ["[[64,1,1000000000]]", "[[64,1,4096],[1,1,18446744073709551615]]"] {
        file.metadata.insert("filters".into(), filters.into());
        assert!(Actor::from_bytes(&file.to_bytes(), &seen).is_err(), "{filters}");
    }
}

#[test]
fn an_actor_obeys_the_laws_of_policies() {
    for algorithm in ALL {
        let (actor, point) = (trained_by(algorithm), Point::for_algorithm(algorithm));
        assert_lawful(algorithm.id, &policy(&actor, point.spec(), &[]));
    }
}

#[test]
fn a_policy_read_back_acts_the_same() {
    let (mut before, spec) = (trained(), Point::new().spec().clone());
    let mut after = Actor::from_bytes(&before.to_bytes(), &spec).unwrap();
    assert_eq!((after.env(), after.algorithm()), ("point", "tqc"));
    for i in 0..20 {
        let (obs, mut a, mut b) = ([i as f32 * 0.3 - 3.0, 1.0 - i as f32 * 0.1], [0.0], [0.0]);
        before.act(&obs, &mut a, &mut Rng::new(1));
        after.act(&obs, &mut b, &mut Rng::new(1));
        assert_eq!(a, b);
    }
}

#[track_caller]
fn refuses(edit: impl Fn(&mut Tensors), want: &str) {
    let mut file = Tensors::from_bytes(&trained().to_bytes()).unwrap();
    edit(&mut file);
    let found = Actor::from_bytes(&file.to_bytes(), Point::new().spec()).unwrap_err().to_string();
    assert!(found.contains(want), "{found}");
}

#[test]
fn edited_policies_are_refused_with_a_reason() {
    refuses(|f| f.insert("actor.0.bias", &[2], &[0.0; 2]), "expected shape [9], found [2]");
    refuses(
        |f| f.insert("actor.0.bias", &[9], &[f32::NAN; 9]),
        "expected finite numbers, found NaN at index 0",
    );
    refuses(|f| f.insert("actor.0.weight", &[18], &[0.0; 18]), "\"actor.0.weight\": expected shape");
    refuses(|f| f.insert("actor.1.weight", &[9, 2], &[0.0; 18]), "expected 1 action channels");
    refuses(
        |f| f.insert("action.low", &[1], &[-1.0]),
        "channel 0 of action.low: expected -2, as the environment has",
    );
    refuses(|f| f.insert("observation.scale", &[2], &[1.0, 0.0]), "expected a positive number, found 0");
    refuses(|f| drop(f.metadata.remove("format")), "expected \"offnominal-actor-1\", found \"\"");
    refuses(|f| drop(f.metadata.insert("env".into(), "line".into())), "expected \"point\", found \"line\"");
    let choices = Actor::from_bytes(&trained().to_bytes(), Point::with_choices().spec()).unwrap_err();
    assert_eq!(choices.to_string(), "policy of point: expected 3 choices as the environment has, found 1");
    let other = Actor::from_bytes(&trained().to_bytes(), Pendulum::new().spec()).unwrap_err().to_string();
    assert!(other.contains("expected \"pendulum-test\", found \"point\""), "{other}");
}

proptest! {
    #[test]
    fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        prop_assert!(Actor::from_bytes(&bytes, Point::new().spec()).is_err());
        prop_assert!(Trainer::resume(&bytes, &Point::new()).is_err());
    }
}
