//! Bodies weigh and measure what they should, stand, fall, and refuse what cannot be.

use super::plan::Plan;
use super::plans::{ant, half_cheetah, hopper, walker};
use super::{BODIES, Reading, quantities};
use crate::env::catalogue;
use offnominal_core::prelude::*;
use serde_json::{Value, json};

const PLANS: [&Plan; 4] = [&hopper::PLAN, &walker::PLAN, &ant::PLAN, &half_cheetah::PLAN];

fn environment(id: &str, params: &Value) -> Box<dyn Env> {
    catalogue().build(id, params).unwrap()
}

#[track_caller]
fn refusal(id: &str, params: &Value) -> String {
    catalogue().build(id, params).err().unwrap().to_string()
}

/// The rewards of a body that does nothing for a while.
fn idle(env: &mut dyn Env, steps: usize) -> Vec<f64> {
    let (mut rng, still) = (Rng::new(0), vec![0.0; env.spec().act_width()]);
    let x = env.draw(&mut rng);
    env.start(&x, &mut rng);
    (0..steps).map(|_| env.step(&still, &mut rng).reward).collect()
}

#[test]
fn masses_are_those_that_pybullet_reads() {
    let kg = PLANS.map(super::built::nominal_kg);
    for (found, pybullet) in kg.iter().zip([15.8200, 23.6771, 182.1760, 38.1879]) {
        assert!((found - pybullet).abs() < 1e-4, "expected {pybullet}, found {found}");
    }
}

#[test]
fn widths_are_those_of_the_publication() {
    for (id, (observation, action)) in BODIES.into_iter().zip([(15, 3), (22, 6), (28, 8), (26, 6)]) {
        let env = environment(id, &json!({}));
        assert_eq!((env.spec().obs_width(), env.spec().act_width()), (observation, action), "{id}");
    }
}

#[test]
fn a_body_starts_as_far_above_the_ground_as_the_nominal_one() {
    let lowest = |params: Value| {
        let built = super::walker::Walker::build(&hopper::PLAN, &params).unwrap();
        built.lowest_m()
    };
    let nominal = lowest(json!({}));
    assert!((nominal - 0.04).abs() < 1e-9, "{nominal}");
    for set in [json!({"leg-length": 0.8}), json!({"foot-width": 0.1, "thigh-length": 0.2})] {
        assert!((lowest(json!({"set": set})) - nominal).abs() < 1e-9);
    }
}

#[test]
fn what_hangs_on_a_limb_moves_with_its_end() {
    let height = |params: Value| super::walker::Walker::build(&walker::PLAN, &params).unwrap().height_m();
    let grown = height(json!({"set": {"thigh-length": 0.55, "left-thigh-length": 0.55}}));
    assert!((grown - height(json!({})) - 0.1).abs() < 1e-9);
    // One leg alone: the body stands on the longer one.
    assert!((height(json!({"set": {"left-leg-length": 0.7}})) - 1.45).abs() < 1e-9);
}

#[test]
fn the_tables_numbers_are_read_as_they_stand() {
    let literal = |set: Value| json!({"reading": "paper-literal", "set": set});
    let height = |set: Value| super::walker::Walker::build(&hopper::PLAN, &literal(set)).unwrap().height_m();
    assert!((height(json!({})) - 1.25).abs() < 1e-9);
    // Raising the hip by 0.1 m makes the thigh longer and the torso shorter.
    assert!((height(json!({"thigh-length": 1.15})) - 1.3).abs() < 1e-9);
    let error = refusal("hopper", &literal(json!({"thigh-length": 1.5})));
    assert!(
        error.contains("torso of hopper: expected at least 0.02 m between its ends, found -0.05"),
        "{error}"
    );
    for id in BODIES {
        let (real, table) =
            (quantities(id, Reading::True).unwrap(), quantities(id, Reading::PaperLiteral).unwrap());
        let mut nominal = environment(id, &json!({}));
        let mut same = environment(id, &json!({"reading": "paper-literal"}));
        assert_eq!(real.len(), table.len());
        let (found, wanted) = (idle(same.as_mut(), 20), idle(nominal.as_mut(), 20));
        let largest = found.iter().zip(wanted).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(largest < 1e-6, "{id}: the nominal body is the same in both readings");
    }
}

#[test]
fn mass_follows_the_volume_or_stays() {
    let total = |mass: &str| {
        let params = json!({"mass": mass, "set": {"foot-width": 0.09}});
        super::walker::Walker::build(&hopper::PLAN, &params).unwrap().mass_kg()
    };
    assert!(total("by-volume") > 22.0 && (total("fixed-total") - 15.8200).abs() < 1e-4);
}

#[test]
fn short_legs_do_not_count_as_fallen_unless_asked() {
    let short = |fall: &str| {
        let set = json!({"thigh-length": 0.2, "leg-length": 0.2});
        idle(environment("hopper", &json!({"fall": fall, "set": set})).as_mut(), 3)
    };
    assert!(short("relative")[2] > 0.5, "{:?}", short("relative"));
    assert!(short("absolute")[2] < -0.5, "{:?}", short("absolute"));
}

#[test]
fn growing_while_walking_keeps_posture_and_height() {
    for id in BODIES {
        let mut env = environment(id, &json!({}));
        idle(env.as_mut(), 10);
        let mut seen = [vec![0.0; env.spec().obs_width()], vec![0.0; env.spec().obs_width()]];
        env.observe(&mut seen[0]);
        let name = quantities(id, Reading::True).unwrap().pop().unwrap().name;
        let wider = env.spec().parameter(&name).unwrap().nominal * 1.1;
        env.set_parameter(&name, wider).unwrap();
        env.observe(&mut seen[1]);
        assert!(
            (1..8).chain(8..20.min(seen[0].len() - 6)).all(|i| (seen[0][i] - seen[1][i]).abs() < 1e-5),
            "{id}"
        );
        assert!((seen[0][0] - seen[1][0]).abs() < 0.1, "{id}: {} {}", seen[0][0], seen[1][0]);
    }
}

#[test]
fn a_neighbour_of_a_start_differs_in_one_joint_and_is_a_start() {
    for id in BODIES {
        let (env, mut rng) = (environment(id, &json!({})), Rng::new(4));
        for _ in 0..20 {
            let x = env.draw(&mut rng);
            let near = env.failure_search().vary(&x, &mut rng).unwrap();
            let moved: Vec<usize> = (0..x.len()).filter(|&i| x[i] != near[i]).collect();
            assert!(moved.len() <= 1 && near.len() == x.len(), "{id}: {moved:?}");
            assert!(x.iter().zip(&near).all(|(a, b)| (a - b).abs() <= 0.2 + 1e-12), "{id}");
        }
    }
}

#[test]
fn several_sizes_change_at_once_or_not_at_all() {
    let mut env = environment("hopper", &json!({}));
    let sizes = [("torso-length", 0.5), ("thigh-length", 0.3), ("leg-width", 0.05)];
    env.set_parameters(&sizes).unwrap();
    let set = json!({"torso-length": 0.5, "thigh-length": 0.3, "leg-width": 0.05});
    assert_eq!(idle(env.as_mut(), 5), idle(environment("hopper", &json!({ "set": set })).as_mut(), 5));
    let before = idle(env.as_mut(), 5);
    assert!(env.set_parameters(&[("leg-length", 0.4), ("leg-width", -1.0)]).is_err());
    assert_eq!(idle(env.as_mut(), 5), before);
}

#[test]
fn bad_bodies_are_named() {
    let set = |name: &str, value: f64| refusal("ant", &json!({"set": {name: value}}));
    assert!(set("front-left-foot-lenght", 0.5).contains("did you mean \"front-left-foot-length\"?"));
    let negative = set("front-left-foot-length", -0.1);
    assert!(
        negative.contains("parameter front-left-foot-length of ant: expected a value in [0.113"),
        "{negative}"
    );
    assert!(set("torso-width", 0.0).contains("found 0"));
    assert!(refusal("walker", &json!({"fall": "never"})).contains("expected `relative` or `absolute`"));
    let unknown = quantities("hoper", Reading::True).unwrap_err().to_string();
    assert!(unknown.contains("no body is called \"hoper\"; did you mean \"hopper\"?"), "{unknown}");
}
