//! Tests of policies of other libraries.

use super::*;
use crate::{catalogues, policies};
use offnominal_core::env::Env;
use std::fs;

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../offnominal-agents/tests").join(name)
}

fn environment(id: &str) -> Box<dyn Env> {
    catalogues::environment(id, None).unwrap()
}

fn found(name: &str, env: &str) -> Result<policies::KnownPolicy> {
    policies::find(name, environment(env).as_ref())
}

#[test]
fn a_model_is_a_policy_by_its_path_with_the_statistics_beside_it() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::copy(file("sb3/sac.zip"), at("rl_model_100_steps.zip")).unwrap();
    let name = at("rl_model_100_steps.zip").display().to_string();
    let plain = found(&name, "pendulum").unwrap();
    let mut seen = vec![plain.digest.clone()];
    for pickle in [
        "vecnormalize.pkl",
        "vec_normalize.pkl",
        "rl_model_vecnormalize_100_steps.pkl",
        "rl_model_100_steps.pkl",
    ] {
        fs::copy(file("sb3/sac.pkl"), at(pickle)).unwrap();
        let normalised = found(&name, "pendulum").unwrap();
        assert_ne!(normalised.digest, plain.digest, "{pickle}");
        assert_eq!(found(&format!("{name}?normalize=none"), "pendulum").unwrap().digest, plain.digest);
        let named = format!("{name}?normalize={}", at(pickle).display());
        assert_eq!(found(&named, "pendulum").unwrap().digest, normalised.digest);
        seen.push(normalised.digest);
        fs::remove_file(at(pickle)).unwrap();
    }
    assert!(plain.card.is_none() && plain.own.is_some());
    assert!(plain.name.ends_with("rl_model_100_steps.zip"));
}

#[test]
fn what_does_not_fit_names_the_file() {
    let refused = |name: String, env: &str, want: &str| {
        let error = format!("{:#}", found(&name, env).err().unwrap());
        assert!(error.contains(want), "{error}");
    };
    let sac = file("sb3/sac.zip").display().to_string();
    refused(
        format!("{sac}?normalize=none"),
        "cartpole",
        "sac.zip: actions of cartpole: expected one of 2 choices, found real",
    );
    refused(format!("{sac}?normalize=none.pkl"), "pendulum", "expected a file or none, found none.pkl");
    refused(format!("{sac}?stack=0"), "pendulum", "stack: expected the number of frames, found \"0\"");
    refused(
        format!("{sac}?stack=2&normalize=none"),
        "pendulum",
        "observation channels of pendulum: expected 6, found 3",
    );
    refused(
        format!("{sac}?activation=ELU"),
        "pendulum",
        "expected one of the options normalize, stack, found",
    );
    refused(format!("{sac}?normalize={sac}"), "pendulum", "sac.zip: statistics of VecNormalize");
}

#[test]
fn models_of_every_kind_act() {
    for (name, env) in [("ppo", "pendulum"), ("recurrent", "pendulum")] {
        let spec =
            Model::read(&fs::read(file(&format!("sb3/others/{name}.zip"))).unwrap()).unwrap().spec(env);
        let path = file(&format!("sb3/others/{name}.zip"));
        let other = import(Library::Sb3, &path, BTreeMap::new(), &spec).unwrap();
        assert_eq!(other.statistics.is_some(), name == "recurrent");
        assert!(matches!(other.taken, Taken::Network(_)));
    }
}

#[test]
fn a_policy_that_others_trained_balances() {
    let (env, context) = (environment("cartpole"), crate::context::Context::silent(7, 1));
    let policy = found(&file("sb3/imitation/model.zip").display().to_string(), "cartpole").unwrap().policy;
    let (found, _) = crate::evaluation::evaluate(env.as_ref(), policy.as_ref(), 20, &context).unwrap();
    assert_eq!((found.total_reward.value, found.total_reward.n), (500.0, 20));
}

/// An environment of three numbers and two actions, as the files of the tests have it.
fn of_tests() -> EnvSpec {
    use offnominal_core::spec::Channel;
    let number = |i| Channel::unbounded(&format!("o{i}"), "a number", "1");
    let channel = |name, low, high| Channel::new(name, "an action", "1", low, high);
    EnvSpec {
        observation: (0..3).map(number).collect(),
        action: vec![channel("a0", -1.0, 1.0), channel("a1", -20.0, 4.0)],
        ..EnvSpec::new("w", "an environment of numbers")
    }
}

fn imported(library: Library, name: &str, options: &[(&str, &str)]) -> Result<Other> {
    let options = options.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect();
    import(library, &file(name), options, &of_tests())
}

#[test]
fn of_a_normalised_policy_of_cleanrl_must_be_said_by_what() {
    const NAME: &str = "torch/ppocontinuous.cleanrl_model";
    let error = format!("{:#}", imported(Library::Cleanrl, NAME, &[]).err().unwrap());
    assert!(error.contains("ppocontinuous.cleanrl_model: expected ?normalize=FILE.npz"), "{error}");
    let plain = imported(Library::Cleanrl, NAME, &[("normalize", "none")]).unwrap();
    let moments = file("torch/moments.npz").display().to_string();
    let normalised = imported(Library::Cleanrl, NAME, &[("normalize", &moments)]).unwrap();
    assert_ne!(plain.digest, normalised.digest);
    let mut acted = [plain, normalised].map(|other| {
        let (mut policy, mut action) = (other.taken.into_policy(), [0.0; 2]);
        policy.act(&[3.0, 1.0, -1.0], &mut action, &mut offnominal_core::Rng::new(0));
        action
    });
    acted[0][0] -= acted[1][0];
    assert_ne!(acted[0][0], 0.0);
    imported(Library::Cleanrl, "torch/td3.cleanrl_model", &[]).unwrap();
}

#[test]
fn the_function_between_layers_of_rsl_rl_may_be_said() {
    let elu = imported(Library::RslRl, "torch/rsl-rl-5.pt", &[]).unwrap();
    let tanh = imported(Library::RslRl, "torch/rsl-rl-5.pt", &[("activation", "Tanh")]).unwrap();
    assert_ne!(elu.digest, tanh.digest);
    let error = imported(Library::RslRl, "torch/rsl-rl-5.pt", &[("activation", "eval")]).err().unwrap();
    assert!(error.to_string().contains("activation: expected one of Identity, ReLU"), "{error}");
}

/// A model in a layout of the zoo, with what its configuration says, and with its statistics or without.
fn zoo(layout: &str, config: &str, has_statistics: bool) -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let (model, around) = match layout {
        "of its name" => ("Pendulum-v1.zip", "Pendulum-v1"),
        "the best" => ("best_model.zip", "Pendulum-v1"),
        "a checkpoint" => ("rl_model_100_steps.zip", "Pendulum-v1"),
        _ => ("sac-Pendulum-v1.zip", "."),
    };
    let at = folder.path().join(around);
    fs::create_dir_all(&at).unwrap();
    fs::copy(file("sb3/sac.zip"), folder.path().join(model)).unwrap();
    fs::write(at.join("config.yml"), config).unwrap();
    if has_statistics {
        fs::copy(file("sb3/sac.pkl"), at.join("vecnormalize.pkl")).unwrap();
    }
    let name = folder.path().join(model).display().to_string();
    (folder, name)
}

#[test]
fn a_model_of_the_zoo_is_played_as_its_configuration_says_or_refused() {
    let sac = file("sb3/sac.zip").display().to_string();
    let digest = |name: &str| found(name, "pendulum").unwrap().digest;
    let [normalised, plain] = [digest(&sac), digest(&format!("{sac}?normalize=none"))];
    let (on, off) = ("normalize: true\n", "policy: MlpPolicy\n");
    for layout in ["of its name", "the best", "a checkpoint", "a hub"] {
        let (_folder, name) = zoo(layout, on, true);
        let there = found(&name, "pendulum").unwrap();
        assert_eq!(there.digest, normalised, "{layout}");
        let words = there.played.unwrap().to_string();
        assert!(
            words.contains("normalised by") && words.contains("vecnormalize.pkl, found beside it"),
            "{words}"
        );
        let (_folder, name) = zoo(layout, off, false);
        assert_eq!(digest(&name), plain, "{layout}");
        for (config, has_statistics) in [(on, false), (off, true)] {
            let (_folder, name) = zoo(layout, config, has_statistics);
            let error = format!("{:#}", found(&name, "pendulum").err().unwrap());
            assert!(
                error.contains("say what holds with ?normalize=FILE or ?normalize=none"),
                "{layout}: {error}"
            );
            assert_eq!(digest(&format!("{name}?normalize=none")), plain, "{layout}");
        }
    }
}

#[test]
fn a_printed_name_is_a_policy_once_its_file_was_opened() {
    let sac = file("sb3/sac.zip").display().to_string();
    let opened = found(&sac, "pendulum").unwrap();
    let printed =
        offnominal_files::dataset::PolicyName { id: opened.name, digest: opened.digest.clone() }.label();
    assert_eq!(found(&printed, "pendulum").unwrap().digest, opened.digest);
    assert!(found("sac-01234567", "pendulum").is_err());
}
