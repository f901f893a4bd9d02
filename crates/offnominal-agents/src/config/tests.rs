//! Presets are what they say, and wrong options are refused with a reason.

use super::*;

#[test]
fn presets_are_table_10_and_valid() {
    let (sap, mjc) = (TrainConfig::for_env("sap-goal0"), TrainConfig::for_env("mjc-half-cheetah"));
    assert_eq!((sap.lr, sap.learning_starts, sap.batch, sap.gamma), (3e-4, 100, 256, 0.99));
    assert_eq!((mjc.lr, mjc.learning_starts, mjc.batch, mjc.gamma), (1e-3, 1000, 512, 0.98));
    assert_eq!((sap.hidden.as_slice(), mjc.hidden.len(), mjc.lr_at(500_000)), (&[256, 256][..], 3, 5e-4));
    for name in PRESETS {
        TrainConfig::preset(name).unwrap().check().unwrap();
    }
}

#[track_caller]
fn refuses(name: &str, value: &str, want: &str) {
    let found = TrainConfig::for_env("sap-goal0").with(name, value).unwrap_err().to_string();
    assert!(found.contains(want), "{found}");
}

#[test]
fn options_are_set_by_name_and_checked() {
    let sap = TrainConfig::for_env("sap-goal0");
    let changed = sap.with("hidden", "[8]").unwrap().with("normalise", "running").unwrap();
    assert_eq!((changed.hidden, changed.normalise), (vec![8], Normalise::Running));
    refuses("gama", "0.9", "did you mean \"gamma\"?");
    refuses("gamma", "1.5", "gamma: expected a number in [0, 1), found 1.5");
    refuses("reward_scale", "0", "reward_scale: expected a positive number, found 0");
    refuses("batch", "-3", "batch: invalid value");
    refuses("schedule", "square", "unknown variant `square`");
    refuses("top_quantiles_to_drop", "25", "fewer than quantiles, found 25");
    refuses("batch", "0", "batch: expected a positive count, found 0");
    refuses(
        "batch",
        "1000000000",
        "batch: expected a count within its limit, found 1000000000, of at most 8192",
    );
    refuses("hidden", "[100000000, 100000000]", "hidden: expected at most 32 layers of at most 16384 units");
    refuses("quantiles", "18446744073709551615", "quantiles: expected a count within its limit");
    refuses("alpha", "often", "expected \"auto\" or a number that is not negative, found \"often\"");
}

#[test]
fn an_option_that_would_do_nothing_is_refused() {
    let sac = TrainConfig::for_env("sap-goal0").with_algorithm("sac").unwrap();
    let refusal = |config: &TrainConfig, name, value| config.with(name, value).unwrap_err().to_string();
    let found = refusal(&sac, "quantiles", "9");
    assert_eq!(
        found,
        "training option quantiles: sac has no such option; its own are: critics, alpha, target_entropy, imitation, advice"
    );
    assert!(refusal(&sac, "imitation", "1").contains("expected 0 without demonstrations"));
    let fixed = sac.with("alpha", "0.2").unwrap();
    assert_eq!(fixed.alpha, Alpha::Fixed(0.2));
    assert!(refusal(&fixed, "target_entropy", "-3").contains("none where alpha is a number"));
    let ddpg = sac.with_algorithm("ddpg").unwrap().with("dropout", "0.1").unwrap();
    assert!(refusal(&ddpg, "dropconnect", "0.1").contains("expected 0 where dropout is given"));
    let dropped = "prior: expected 0 where units or weights are dropped, or filters given, found 1";
    assert!(refusal(&ddpg, "prior", "1").contains(dropped));
    assert!(refusal(&sac, "prior", "1").contains("sac has no such option"));
    assert!(refusal(&ddpg, "policy_delay", "2").contains("ddpg has no such option"));
    let td3 = TrainConfig { alpha: Alpha::Fixed(0.1), ..fixed.with_algorithm("td3").unwrap() };
    assert!(td3.check().unwrap_err().to_string().contains("alpha: td3 has no such option"));
    assert!(!refusal(&sac, "polcy_delay", "1").contains("policy_delay"));
}

#[test]
fn a_preset_serves_every_algorithm() {
    let paper = TrainConfig::preset("pybullet-m").unwrap();
    let (sac, td3) = (paper.with_algorithm("sac").unwrap(), paper.with_algorithm("td3").unwrap());
    assert_eq!((sac.alpha, td3.alpha, td3.buffer), (Alpha::Fixed(0.2), Alpha::Auto, 100_000));
    for (name, algorithm) in PRESETS.iter().flat_map(|p| crate::ALL.iter().map(move |a| (p, a.id))) {
        TrainConfig::preset(name).unwrap().with_algorithm(algorithm).unwrap().check().unwrap();
    }
}

#[test]
fn a_recipe_survives_its_file() {
    let paper = TrainConfig::preset("pybullet-m").unwrap();
    let text = serde_json::to_string(&paper).unwrap();
    assert_eq!(serde_json::from_str::<TrainConfig>(&text).unwrap(), paper);
}
