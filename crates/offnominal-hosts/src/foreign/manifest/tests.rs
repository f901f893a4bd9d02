//! Files that describe environments are read, and applied to what an environment says of itself.

use super::*;

fn spec() -> EnvSpec {
    EnvSpec {
        observation: vec![Channel::unbounded("o0", "number", "1"), Channel::unbounded("o1", "number", "1")],
        action: vec![Channel::new("a0", "number", "1", -1.0, 1.0)],
        parameters: vec![
            Parameter::new("mass", "as the process sets it", "1", 1.0, 0.2, 5.0),
            Parameter::new("wind", "as the process sets it", "1", 0.0, -9.0, 9.0),
        ],
        ..EnvSpec::new("gymnasium:X", "an environment")
    }
}

#[test]
fn names_units_and_meanings_are_those_of_the_file() {
    let text = r#"
        observation = { names = ["x", "v"], units = ["m", "m/s"] }
        action.units = ["N"]
        [parameters]
        mass = { attribute = "unwrapped.model.body_mass", relative = true, low = 0.2, high = 5 }
        wind = { attribute = "unwrapped.wind[0]", low = -9, high = 9, unit = "m/s", meaning = "wind along x" }
    "#;
    let found = Manifest::parse(text).unwrap().apply(spec()).unwrap();
    let of = |channel: &Channel| (channel.name.clone(), channel.unit.clone());
    assert_eq!(of(&found.observation[1]), ("v".into(), "m/s".into()));
    assert_eq!(of(&found.action[0]), ("a0".into(), "N".into()));
    assert_eq!(found.parameters[0].meaning, "factor of unwrapped.model.body_mass");
    assert_eq!((&*found.parameters[1].meaning, &*found.parameters[1].unit), ("wind along x", "m/s"));
}

#[test]
fn what_does_not_fit_is_named() {
    let refused = |text: &str| {
        let read = Manifest::parse(text).and_then(|manifest| manifest.apply(spec()));
        format!("{:#}", read.unwrap_err())
    };
    let cases = [
        ("observation.names = ['x']", "observation: names: expected 2 names, found 1: x"),
        ("action.units = ['N', 'N']", "action: units: expected 1"),
        ("observations.names = ['x', 'v']", "unknown field `observations`"),
        (
            "parameters.m = { attribute = 'm', low = 2, high = 1 }",
            "parameters.m: expected low < high, found 2 and 1",
        ),
        (
            "parameters.m = { attribute = 'm()', low = 0, high = 1 }",
            "attribute: expected names with dots between",
        ),
        ("parameters.m = { attribute = 'm', low = 0 }", "missing field `high`"),
        ("parameters.'m m' = { attribute = 'm', low = 0, high = 1 }", "expected a name of letters"),
        ("dt = 0", "dt: expected seconds above 0, found 0"),
        ("observation.units = ['', 'm']", "unit: expected 1 to 200 plain characters"),
    ];
    for (text, expected) in cases {
        let found = refused(text);
        assert!(found.contains(expected), "{text}: {found}");
    }
}
