//! Folders of splits as Anomaly-Gym publishes them, written here: what is found in sound ones, and what is said of broken ones.

use hdf5_pure::{EnumTypeBuilder, FileBuilder, GroupBuilder};
use offnominal_core::{Rng, Seed};
use offnominal_logs::splits::{Request, ScoredSplits, run};
use offnominal_work::context::Context;
use offnominal_work::rule_choice::Threshold;
use std::path::{Path, PathBuf};

/// Steps of an episode, and its onset where it has an anomaly.
const STEPS: usize = 40;
const ONSET: usize = 15;

/// What an episode is written with.
#[derive(Clone, Copy)]
struct Shape {
    /// Numbers of an observation.
    width: usize,
    /// Rows of the label.
    labels: usize,
    /// Added to the first number of an observation from the onset on.
    offset: f32,
    /// From which step on there is a label.
    onset: usize,
}

const NOMINAL: Shape = Shape { width: 2, labels: STEPS + 1, offset: 0.0, onset: STEPS + 1 };
const OFFSET: Shape = Shape { offset: 3.0, onset: ONSET, ..NOMINAL };

/// A walk to zero: x′ = 0.9 x + a + noise, with a the command.
fn episode(group: &mut GroupBuilder, shape: Shape, rng: &mut Rng) {
    let (mut x, mut observations, mut actions) = (vec![0.0_f32; shape.width], Vec::new(), Vec::new());
    for step in 0..=STEPS {
        let is_off = step > 0 && step > shape.onset;
        observations
            .extend(x.iter().enumerate().map(|(i, x)| x + if i == 0 && is_off { shape.offset } else { 0.0 }));
        if step < STEPS {
            let action = rng.normal() as f32;
            actions.push(action);
            x.iter_mut().for_each(|x| *x = 0.9 * *x + action + 0.1 * rng.normal() as f32);
        }
    }
    let (rows, width) = (STEPS as u64, shape.width as u64);
    // A dictionary, as the particle environments have it: the first number stands alone.
    let mut observed = group.create_group("observations");
    let part = |from: usize, to: usize| -> Vec<f32> {
        observations.chunks(shape.width).flat_map(|row| row[from..to].to_vec()).collect()
    };
    observed.create_dataset("goal").with_f32_data(&part(0, 1)).with_shape(&[rows + 1, 1]);
    observed.create_dataset("state").with_f32_data(&part(1, shape.width)).with_shape(&[rows + 1, width - 1]);
    group.add_group(observed.finish());
    group.create_dataset("actions").with_f32_data(&actions).with_shape(&[rows, 1]);
    group.create_dataset("rewards").with_f64_data(&vec![0.0; STEPS]);
    let mut infos = group.create_group("infos");
    let kind = EnumTypeBuilder::u8_based().u8_value("FALSE", 0).u8_value("TRUE", 1).build().unwrap();
    let labels: Vec<u8> = (0..shape.labels).map(|row| u8::from(row > shape.onset)).collect();
    infos.create_dataset("is_anomaly").with_enum_u8_data(kind, &labels);
    group.add_group(infos.finish());
}

struct Rig(tempfile::TempDir);

impl Rig {
    /// A sound folder with one anomaly at two strengths.
    fn new() -> Rig {
        let rig = Rig(tempfile::tempdir().unwrap());
        for (name, n) in [("train", 30), ("val", 10), ("test", 20)] {
            rig.write(name, &vec![NOMINAL; n]);
        }
        rig.write("obs_offset_tiny", &[Shape { offset: 0.5, ..OFFSET }; 12]);
        rig.write("obs_offset_strong", &[OFFSET; 12]);
        rig
    }

    fn folder(&self) -> PathBuf {
        self.0.path().join("Walk")
    }

    fn write(&self, split: &str, episodes: &[Shape]) {
        let mut file = FileBuilder::new();
        for (i, shape) in episodes.iter().enumerate() {
            let mut group = file.create_group(&format!("episode_{i}"));
            episode(&mut group, *shape, &mut Seed(1).child(split).child(i).rng());
            file.add_group(group.finish());
        }
        let data = self.folder().join(split).join("data");
        std::fs::create_dir_all(&data).unwrap();
        std::fs::write(data.join("main_data.hdf5"), file.finish().unwrap()).unwrap();
        // Videos lie beside the numbers; nobody reads them.
        std::fs::create_dir_all(self.folder().join(split).join("videos")).unwrap();
    }

    fn request(&self) -> Request {
        let detectors = ["knn-transition", "mlp-dm"];
        let small = serde_json::json!({ "hidden": [16], "training": { "epochs": 5 } });
        let (folder, table) = (self.folder(), Some(self.0.path().join("found.csv")));
        let threshold = Threshold { alpha: 0.1, ..Threshold::default() };
        let mut request = Request { folder, detectors: vec![], threshold, table };
        request.detectors = detectors.map(|id| id.parse().unwrap()).to_vec();
        request.detectors[1].params = small;
        request
    }

    fn run(&self) -> anyhow::Result<ScoredSplits> {
        run(&self.request(), &Context::silent(1, 2))
    }

    #[track_caller]
    fn refuses(&self, want: &[&str]) {
        let said = format!("{:#}", self.run().unwrap_err());
        for part in want {
            assert!(said.contains(part), "expected {part:?}, found {said:?}");
        }
    }
}

fn value(found: &ScoredSplits, strength: &str, detector: &str, metric: &str) -> f64 {
    let is = |n: &&offnominal_logs::splits::Number| {
        n.strength == strength && n.detector == detector && n.metric == metric && n.anomaly == "obs_offset"
    };
    found.numbers.iter().find(is).unwrap_or_else(|| panic!("no {metric} of {detector}")).value
}

#[test]
fn a_folder_gives_a_table_by_anomaly_and_strength() {
    let rig = Rig::new();
    let found = rig.run().unwrap();
    assert_eq!((&*found.env, found.episodes), ("Walk", [30, 10, 20]));
    assert_eq!(found.detectors, ["clock", "knn-transition", "mlp-dm"]);
    // The two numbers follow one another but for noise, so an offset of one of them is far from everything nominal.
    assert!(value(&found, "strong", "knn-transition", "auroc_same_step") > 0.99);
    assert!(value(&found, "strong", "knn-transition", "auroc_local") > 0.99);
    assert!(value(&found, "strong", "knn-transition", "d20") > 0.99);
    assert_eq!(value(&found, "strong", "clock", "auroc_local"), 1.0);
    assert_eq!(value(&found, "tiny", "clock", "auroc_same_step"), 0.5);
    assert!(value(&found, "tiny", "knn-transition", "false_alarm_rate") < 0.4);
    let text = found.to_string();
    assert!(
        text.contains("Walk: learned from 30 episodes, thresholds by conformal on 10, false alarms in 20"),
        "{text}"
    );
    assert!(
        text.contains("| obs_offset | tiny | clock |") && text.contains("| strong | 1 | mlp-dm |"),
        "{text}"
    );
    let table = std::fs::read_to_string(rig.0.path().join("found.csv")).unwrap();
    assert_eq!(table.lines().count(), found.numbers.len() + 1);
    assert!(
        table.starts_with("env,anomaly,strength,detector,n,metric,threshold,value,low,high\n"),
        "{table:.80}"
    );
}

#[test]
fn the_label_of_a_step_is_that_of_the_observation_it_leads_to() {
    let rig = Rig::new();
    // The offset is in the first labelled observation: a label one step off would make the alarm late, or early.
    let found = rig.run().unwrap();
    assert_eq!(value(&found, "strong", "knn-transition", "delay_median"), 0.0);
    assert!(value(&found, "strong", "knn-transition", "early_rate") < 0.5);
}

#[test]
fn a_threshold_that_needs_more_episodes_takes_the_last_ones_of_train() {
    let rig = Rig::new();
    let found = run(&with_alpha(rig.request(), 0.05), &Context::silent(1, 2)).unwrap();
    assert_eq!(found.episodes, [21, 19, 20]);
    let error = run(&with_alpha(rig.request(), 0.01), &Context::silent(1, 2)).unwrap_err();
    assert!(format!("{error:#}").contains("found 40: 60 more are needed"), "{error:#}");
}

fn remove(folder: &Path) {
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_missing_split_an_unknown_strength_and_a_missing_file_are_named() {
    let rig = Rig::new();
    std::fs::create_dir_all(rig.folder().join("obs_offset_huge")).unwrap();
    rig.refuses(&[
        "split obs_offset_huge: expected a strength of tiny, light, medium, strong, extreme, found \"huge\"",
    ]);
    remove(&rig.folder().join("obs_offset_huge"));
    remove(&rig.folder().join("obs_offset_tiny/data"));
    rig.refuses(&["obs_offset_tiny: expected the file data/main_data.hdf5 (Minari), found none"]);
    remove(&rig.folder().join("val"));
    rig.refuses(&["Walk: expected the split val, found obs_offset_strong, obs_offset_tiny, test, train"]);
}

#[test]
fn splits_of_other_widths_are_refused() {
    let rig = Rig::new();
    rig.write("obs_offset_strong", &[Shape { width: 3, ..OFFSET }; 3]);
    rig.refuses(&[
        "obs_offset_strong: expected the 2 observations of the first split, observations/goal, observations/state; found 3:",
        "observations/state[1]",
    ]);
    rig.write("obs_offset_strong", &[OFFSET, Shape { width: 3, ..OFFSET }]);
    rig.refuses(&["obs_offset_strong: episode_1: expected the 2 observations"]);
}

#[test]
fn labels_of_another_length_are_refused_even_if_one_is_missing_only() {
    for labels in [STEPS, STEPS + 2, 7] {
        let rig = Rig::new();
        rig.write("obs_offset_tiny", &[OFFSET, Shape { labels, ..OFFSET }]);
        rig.refuses(&[
            "obs_offset_tiny: episode_1: infos/is_anomaly: expected 41 rows, one for the reset and one for each of 40 actions",
            &format!("found {labels}"),
        ]);
    }
}

#[test]
fn labels_that_contradict_the_name_of_a_split_are_refused() {
    let rig = Rig::new();
    rig.write("val", &[NOMINAL, Shape { onset: 3, ..NOMINAL }]);
    rig.refuses(&["val: expected nominal episodes, found a label at step 3 of episode 1"]);
    let rig = Rig::new();
    rig.write("obs_offset_tiny", &[NOMINAL; 3]);
    rig.refuses(&["obs_offset_tiny: expected labelled steps, found none in 3 episodes"]);
}

#[test]
fn detectors_of_one_name_or_of_none_are_refused_before_anything_is_read() {
    let rig = Rig::new();
    let mut request = rig.request();
    request.detectors[1] = request.detectors[0].clone();
    let error = run(&request, &Context::silent(1, 2)).unwrap_err().to_string();
    assert!(error.contains("found \"knn-transition\" twice: give one a `name`"), "{error}");
    request.detectors[1] = "knnn".parse().unwrap();
    request.folder = "nowhere".into();
    let error = format!("{:#}", run(&request, &Context::silent(1, 2)).unwrap_err());
    assert!(error.contains("detector knnn: ") && error.contains("did you mean \"knn\"?"), "{error}");
}

fn with_alpha(request: Request, alpha: f64) -> Request {
    Request { threshold: Threshold { alpha, ..Threshold::default() }, ..request }
}
