//! A dataset survives the file; anything else does not pass for one.

use crate::dataset::*;
use offnominal_core::Rng;
use offnominal_core::divergence::NotFinite;
use proptest::prelude::*;
use serde_json::json;
use std::path::Path;

/// An environment's description with the given channels, for tests that need no environment.
pub(crate) fn spec(obs: usize, act: usize) -> EnvSpec {
    EnvSpec {
        id: "test-world".into(),
        summary: "a test".into(),
        source: "none".into(),
        observation: (0..obs).map(|i| Channel::unbounded(&format!("o{i}"), "a number", "m")).collect(),
        action: (0..act).map(|i| Channel::new(&format!("a{i}"), "a number", "N", -1.0, 1.0)).collect(),
        dt_secs: 0.1,
        horizon: 10,
        parameters: vec![],
        initial: vec!["x".into()],
        reward: "none".into(),
        reset: "none".into(),
        success: "none".into(),
        classes: vec![],
        cameras: vec![],
        ..EnvSpec::default()
    }
}

/// An episode of random numbers, anomalous from the onset on.
pub(crate) fn episode(rng: &mut Rng, steps: usize, onset: Option<u32>) -> Episode {
    let mut numbers = |n: usize| {
        let mut values = vec![0.0; n];
        rng.fill_normal(&mut values);
        values
    };
    Episode {
        env: "test-world".into(),
        seed: Seed(steps as u64),
        initial: vec![0.1 + 0.2],
        anomaly_spec: onset.map(|_| anomaly_spec()),
        onset,
        observations: numbers((steps + 1) * 3),
        actions: numbers(steps * 2),
        rewards: numbers(steps).iter().map(|&r| f64::from(r) / 3.0).collect(),
        labels: (0..steps).map(|t| onset.is_some_and(|o| o as usize <= t)).collect(),
        end: if steps.is_multiple_of(2) { End::TimedOut } else { End::Failed },
        divergence: None,
        goal_met: (!steps.is_multiple_of(3)).then_some(steps % 3 == 1),
        obs_width: 3,
        act_width: 2,
    }
}

fn anomaly_spec() -> AnomalySpec {
    let schedule = Schedule { onset: Onset::Random, extent: Extent::ToEnd };
    AnomalySpec { anomaly: "obs-offset".into(), params: json!({"magnitude": 0.25}), schedule }
}

/// Two anomalous episodes, each followed by its twin.
pub(crate) fn dataset() -> Dataset {
    let mut rng = Rng::new(1);
    let policy = PolicyName { id: "random".into(), digest: "00".into() };
    let lengths = [(5, Some(2)), (5, None), (1, Some(0)), (1, None)];
    Dataset {
        recipe: DatasetRecipe::new(&spec(3, 2), policy, Some(anomaly_spec()), 7),
        episodes: lengths.map(|(steps, onset)| episode(&mut rng, steps, onset)).into(),
        twins: vec![Some(1), None, Some(3), None],
    }
}

#[test]
fn what_is_written_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("d.arrow");
    save(&dataset(), &path).unwrap();
    assert_eq!(load(&path).unwrap(), dataset());
}

#[track_caller]
fn refuses_to_write(spoil: impl FnOnce(&mut Dataset), want: &str) {
    let mut spoiled = dataset();
    spoil(&mut spoiled);
    let error = format!("{:#}", encode(&spoiled).unwrap_err());
    assert!(error.contains(want), "{error}");
}

#[test]
fn bad_episodes_are_not_written() {
    refuses_to_write(
        |d| d.episodes[1].observations[7] = f32::NAN,
        "episode 1, observations, row 2, channel 1",
    );
    refuses_to_write(|d| d.episodes[0].rewards[3] = f64::INFINITY, "episode 0, rewards, row 3");
    refuses_to_write(
        |d| d.episodes[2].obs_width = 2,
        "expected 3 observation and 2 action channels, found 2",
    );
    refuses_to_write(|d| d.episodes[2].rewards.clear(), "episode 2: expected at least one step");
    refuses_to_write(|d| d.episodes.clear(), "expected at least one episode");
}

/// Encodes a dataset that the writer would refuse, to see that the reader refuses it too.
#[track_caller]
fn refuses_to_read(spoil: impl FnOnce(&mut Dataset), want: &str) {
    let mut spoiled = dataset();
    spoil(&mut spoiled);
    let error = format!("{:#}", decode(&encode(&spoiled).unwrap()).unwrap_err());
    assert!(error.contains(want), "{error}");
}

#[test]
fn contradictions_are_not_read() {
    refuses_to_read(|d| d.recipe.format = 2, "expected version 1 of the file format, found 2");
    refuses_to_read(
        |d| d.episodes[0].labels[1] = true,
        "episode 0, label, row 1: expected no anomalous step before",
    );
    refuses_to_read(|d| d.episodes[1].labels[0] = true, "before the onset (none)");
    refuses_to_read(|d| d.twins[0] = Some(9), "expected a twin below 4, found 9");
    refuses_to_read(|d| d.twins[0] = Some(2), "expected a nominal twin, but episode 2 is anomalous");
    refuses_to_read(|d| d.twins[0] = Some(3), "expected a twin with the same seed 5, found 1");
    refuses_to_read(|d| d.recipe.anomaly_spec = None, "expected no onset in a file without a fault");
}

#[track_caller]
fn refuses_bytes(bytes: &[u8], want: &str) {
    let error = format!("{:#}", decode(bytes).unwrap_err());
    assert!(error.contains(want), "{error}");
}

#[test]
fn damage_is_named() {
    let good = encode(&dataset()).unwrap();
    refuses_bytes(b"", "found an empty file");
    refuses_bytes(b"PAR1 and more than enough bytes", "expected an Arrow IPC file");
    refuses_bytes(&good[..good.len() - 1], "the file is truncated");
    let mut flipped = good.clone();
    flipped[good.len() / 3] ^= 4;
    refuses_bytes(&flipped, "the file was damaged or edited");
    let missing = load(Path::new("no/such.arrow")).unwrap_err();
    assert!(format!("{missing:#}").contains("no/such.arrow"));
}

#[test]
fn the_name_for_results_holds_no_path() {
    let label = |id: &str| PolicyName { id: id.into(), digest: "0123456789abcdef".into() }.label();
    assert_eq!(label("/home/me/runs/my policy.safetensors"), "my-policy-01234567");
    assert_eq!(label("walker.onnx"), "walker-01234567");
    assert_eq!((label("tqc"), label("hopper-td3-1")), ("tqc".into(), "hopper-td3-1".into()));
}

#[test]
fn why_an_episode_diverged_is_kept() {
    let mut kept = dataset();
    let why = Divergence::Observation { at: 2, found: NotFinite::MinusInfinity };
    (kept.episodes[1].end, kept.episodes[1].divergence) = (End::Diverged, Some(why));
    let read = decode(&encode(&kept).unwrap()).unwrap();
    assert_eq!(read, kept);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn arbitrary_bytes_do_not_panic(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        let _ = decode(&bytes);
        let dressed = [b"ARROW1\0\0", &bytes[..], &(bytes.len() as i32).to_le_bytes(), b"ARROW1"].concat();
        prop_assert!(decode(&dressed).is_err());
    }

    #[test]
    fn a_flipped_bit_is_found_or_harmless(at in any::<prop::sample::Index>(), bit in 0..8_u32) {
        let mut bytes = encode(&dataset()).unwrap();
        let at = at.index(bytes.len());
        bytes[at] ^= 1 << bit;
        // Padding of the footer carries no information; everything else must be noticed.
        if let Ok(read) = decode(&bytes) {
            prop_assert_eq!(read, dataset());
        }
    }

    #[test]
    fn a_truncated_file_is_refused(at in any::<prop::sample::Index>()) {
        let bytes = encode(&dataset()).unwrap();
        prop_assert!(decode(&bytes[..at.index(bytes.len())]).is_err());
    }

    #[test]
    fn a_flipped_bit_with_a_repaired_checksum_does_not_panic(at in any::<prop::sample::Index>(), bit in 0..8_u32) {
        let mut bytes = encode(&dataset()).unwrap();
        let at = at.index(bytes.len());
        bytes[at] ^= 1 << bit;
        if let Ok(footer) = footer::read(&bytes) {
            let _ = read::contents(&bytes, &footer);
        }
    }
}
