//! Models that Stable-Baselines3 saved act as they do there. `tests/sb3/make.py` made the files.

use offnominal_agents::Taken;
use offnominal_agents::pytorch::FileError;
use offnominal_agents::sb3::{Model, Options, Space, read_normalisation};
use offnominal_core::Rng;
use offnominal_core::policy::Policy;
use serde_json::Value;
use std::io::{Read, Write};
use std::path::Path;

const MODELS: &[(&str, &str)] =
    &[("sac", "sac"), ("sac-sde", "sac"), ("tqc", "tqc"), ("td3", "td3"), ("ddpg", "ddpg"), ("dqn", "dqn")];

fn file(name: &str) -> Vec<u8> {
    std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sb3").join(name)).unwrap()
}

fn rows(value: &Value) -> Vec<Vec<f32>> {
    serde_json::from_value(value.clone()).unwrap()
}

#[track_caller]
fn acts_alike(policy: &mut dyn Policy, expected: &Value, actions: &str) {
    let (mut action, mut rng) = ([0.0], Rng::new(0));
    for (obs, want) in rows(&expected["observations"]).iter().zip(rows(&expected[actions])) {
        policy.act(obs, &mut action, &mut rng);
        assert!(
            (action[0] - want[0]).abs() <= 1e-5,
            "{actions}: {} instead of {} at {obs:?}",
            action[0],
            want[0]
        );
    }
}

#[test]
fn actions_are_those_of_stable_baselines3() {
    let expected: Value = serde_json::from_slice(&file("expected.json")).unwrap();
    for (name, algorithm) in MODELS {
        let bytes = file(&format!("{name}.zip"));
        let read = || Model::read(&bytes).unwrap();
        let spec = read().spec("own");
        assert_eq!(read().algorithm, *algorithm);
        let taken = read().policy(&spec, &Options::default()).unwrap();
        assert!(matches!(taken, Taken::Actor(_)), "{name} has the file of policies that are trained here");
        acts_alike(taken.into_policy().as_mut(), &expected[name], "plain");
        let statistics = read_normalisation(&file(&format!("{name}.pkl"))).unwrap();
        assert!(statistics.is_some());
        let options = Options { statistics, ..Options::default() };
        acts_alike(
            read().policy(&spec, &options).unwrap().into_policy().as_mut(),
            &expected[name],
            "normalised",
        );
    }
}

#[test]
fn a_model_of_before_pytorch_1_6_acts_as_the_same_of_today() {
    let act = |name: &str| {
        let model = Model::read(&file(name)).unwrap();
        let spec = model.spec("own");
        let mut policy = model.policy(&spec, &Options::default()).unwrap().into_policy();
        let (mut action, mut rng) = ([0.0], Rng::new(0));
        policy.act(&[0.3, -0.2, 0.9], &mut action, &mut rng);
        action
    };
    assert_eq!(act("old.zip"), act("sac.zip"));
}

#[test]
fn the_environment_must_have_the_same_channels() {
    let model = || Model::read(&file("sac.zip")).unwrap();
    assert!(matches!(model().actions, Space::Box { low, high, .. } if low == [-2.0] && high == [2.0]));
    let refused = |spec| model().policy(&spec, &Options::default()).unwrap_err().to_string();
    let mut spec = model().spec("w");
    spec.observation.pop();
    assert_eq!(refused(spec), "observation channels of w: expected 2, found 3");
    spec = model().spec("w");
    spec.observation.truncate(1);
    let error = refused(spec);
    assert!(error.contains("expected 1, found 3; if 3 frames were stacked, say so with stack=3"), "{error}");
    spec = model().spec("w");
    spec.action[0].high = 3.0;
    let error = refused(spec);
    assert!(error.starts_with("actions of w: expected real numbers from [-2.0] to [3.0], found"), "{error}");
}

/// The model with one part replaced.
fn with_part(part: &str, bytes: &[u8]) -> Vec<u8> {
    let whole = file("sac.zip");
    let mut from = zip::ZipArchive::new(std::io::Cursor::new(&whole)).unwrap();
    let mut to = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for i in 0..from.len() {
        let inner = from.by_index_raw(i).unwrap();
        if inner.name().unwrap() != part {
            to.raw_copy_file(inner).unwrap();
        }
    }
    to.start_file(part, zip::write::SimpleFileOptions::default()).unwrap();
    to.write_all(bytes).unwrap();
    to.finish().unwrap().into_inner()
}

#[test]
fn a_hostile_pickle_is_refused_and_not_run() {
    let hostile = b"\x80\x02cposix\nsystem\n(X\x04\0\0\0exittR.";
    let mut inner = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    inner.start_file("archive/data.pkl", zip::write::SimpleFileOptions::default()).unwrap();
    inner.write_all(hostile).unwrap();
    let error = Model::read(&with_part("policy.pth", &inner.finish().unwrap().into_inner())).err().unwrap();
    assert!(
        matches!(error, FileError::Forbidden { .. }) && error.to_string().contains("posix.system"),
        "{error}"
    );
    assert!(matches!(read_normalisation(hostile), Err(FileError::Forbidden { .. })));
}

/// A zip of these parts, packed.
fn zipped(parts: &[(&str, &[u8])]) -> Vec<u8> {
    let mut to = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, bytes) in parts {
        to.start_file(*name, zip::write::SimpleFileOptions::default()).unwrap();
        to.write_all(bytes).unwrap();
    }
    to.finish().unwrap().into_inner()
}

/// A pickle of an ordered dictionary of tensors of those shapes, all of which share the storage `0`.
fn sharing(tensors: &[(String, Vec<u32>)]) -> Vec<u8> {
    let text = |t: &str| [&b"X"[..], &(t.len() as u32).to_le_bytes(), t.as_bytes()].concat();
    let int = |n: u32| [&b"J"[..], &n.to_le_bytes()].concat();
    let tuple = |list: &[u32]| {
        let items: Vec<u8> = list.iter().flat_map(|&n| int(n)).collect();
        [&b"("[..], &items, b"t"].concat()
    };
    let global = |module: &str, name: &str| format!("c{module}\n{name}\n").into_bytes();
    let mut pickle = [b"\x80\x02".to_vec(), global("collections", "OrderedDict"), b")R(".to_vec()].concat();
    for (name, shape) in tensors {
        let strides: Vec<u32> = (1..=shape.len()).map(|i| shape[i..].iter().product()).collect();
        pickle.extend([text(name), global("torch._utils", "_rebuild_tensor_v2"), b"((".to_vec()].concat());
        pickle.extend([text("storage"), global("torch", "FloatStorage"), text("0"), text("cpu")].concat());
        pickle.extend([int(shape.iter().product()), b"tQ".to_vec(), int(0)].concat());
        pickle.extend([tuple(shape), tuple(&strides), b"\x89NtR".to_vec()].concat());
    }
    [pickle, b"u.".to_vec()].concat()
}

/// Reads a model and says how many bytes that took at most.
fn measured(model: &[u8]) -> (Result<Model, FileError>, u64) {
    let mut found = None;
    let used = allocation_counter::measure(|| found = Some(Model::read(model)));
    (found.unwrap(), used.bytes_max)
}

#[test]
fn layers_that_share_or_inflate_their_numbers_are_not_read() {
    let storage = vec![0_u8; 4 << 20];
    let weights =
        |tensors: &[(String, Vec<u32>)]| zipped(&[("a/data.pkl", &sharing(tensors)), ("a/data/0", &storage)]);
    // Critics that nobody reads: 2,000 tensors of 4 MB in a file of kilobytes.
    let critics: Vec<_> = (0..2_000).map(|i| (format!("critic.qf{i}.weight"), vec![1024, 1024])).collect();
    let (found, peak) = measured(&with_part("policy.pth", &weights(&critics)));
    let error = found.err().unwrap().to_string();
    assert!(error.contains("actor.mu: expected weights and biases that fit together"), "{error}");
    assert!(peak < 64 << 20, "{peak} bytes");
    // Layers that are read, and unpack to more than a policy has.
    let layer = |i: usize| {
        let name = |part: &str| format!("actor.latent_pi.{}.{part}", 2 * i);
        [(name("weight"), vec![1024, 1024]), (name("bias"), vec![1024])]
    };
    let (found, peak) =
        measured(&with_part("policy.pth", &weights(&(0..40).flat_map(layer).collect::<Vec<_>>())));
    let error = found.err().unwrap().to_string();
    assert!(error.contains("bytes that it may have"), "{error}");
    assert!(peak < 400 << 20, "{peak} bytes");
}

#[test]
fn descriptions_that_inflate_are_refused() {
    let bomb = vec![b' '; 64 << 20];
    let (found, peak) = measured(&with_part("data", &bomb));
    assert!(found.err().unwrap().to_string().contains("more than the 16777216 bytes"));
    assert!(peak < 128 << 20, "{peak} bytes");
    // One long name that is called again and again.
    let long = format!("numpy.random.{}", "x".repeat(100_000));
    let mut pickle =
        [&b"\x80\x04X"[..], &(long.len() as u32).to_le_bytes(), long.as_bytes(), b"\x94"].concat();
    pickle.extend(b"\x8c\x01x\x94".iter().chain(b"h\x00h\x01\x93".repeat(20_000).iter()).chain(b"."));
    let mut error = None;
    let used = allocation_counter::measure(|| error = read_normalisation(&pickle).err());
    assert!(error.is_some() && used.bytes_max < 16 << 20, "{} bytes", used.bytes_max);
}

#[track_caller]
fn refuses(data: &str, want: &str) {
    let error = Model::read(&with_part("data", data.as_bytes())).err().unwrap().to_string();
    assert!(error.contains(want), "{error}");
}

#[test]
fn policies_of_other_kinds_are_explained() {
    refuses("{", "expected JSON");
    refuses("{}", "expected one of PPO, A2C, TRPO");
    let own = r#"{"policy_class": {"__module__": "__main__"}}"#;
    refuses(own, "found a policy of __main__");
    let data: Value = serde_json::from_slice(&part(&file("sac.zip"), "data")).unwrap();
    let with = |key: &str, name: &str, value: &str| {
        let mut data = data.clone();
        data[key][name] = value.into();
        data.to_string()
    };
    refuses(
        &with("policy_kwargs", "activation_fn", "<class 'torch.nn.modules.activation.Threshold'>"),
        "activation_fn: expected one of Identity, ReLU",
    );
    refuses(
        &with("policy_kwargs", "features_extractor_class", "<class '__main__.Mine'>"),
        "features_extractor_class: expected NatureCNN or FlattenExtractor, found <class '__main__.Mine'>",
    );
    let td3 = with("policy_class", "__module__", "stable_baselines3.td3.policies");
    refuses(&td3, "expected dense layers with a function between each two");
    let dqn = with("policy_class", "__module__", "stable_baselines3.dqn.policies");
    refuses(&dqn, "expected the dense layers q_net.q_net.*, found none");
}

/// A part of a zip.
fn part(zip: &[u8], name: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut zip = zip::ZipArchive::new(std::io::Cursor::new(zip)).unwrap();
    zip.by_name(name).unwrap().read_to_end(&mut bytes).unwrap();
    bytes
}

#[test]
fn damaged_files_are_errors() {
    let (mut rng, whole, pickle) = (Rng::new(3), file("sac.zip"), file("sac.pkl"));
    for _ in 0..300 {
        let mut bytes = whole.clone();
        for _ in 0..20 {
            let at = rng.below(bytes.len());
            bytes[at] = rng.below(256) as u8;
        }
        let _ = Model::read(&bytes[..1 + rng.below(whole.len())]);
        let _ = Model::read(&bytes);
        let mut bytes = pickle.clone();
        let at = rng.below(bytes.len());
        bytes[at] = rng.below(256) as u8;
        let _ = read_normalisation(&bytes);
    }
}
