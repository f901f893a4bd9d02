//! `pixels`: from drawn scenes over the baseline to a page, and what is said of bad input.

use super::{fails, offnominal, succeeds};
use std::fs;
use std::path::{Path, PathBuf};

const SMALL: [&str; 4] = ["--width", "64", "--height", "32"];

fn scenes(out: &Path, split: &str, n: &str, more: &[&str]) {
    let args = ["pixels", "scenes", "--split", split, "-n", n, "--seed", "1", "--quiet"];
    succeeds(offnominal(&args, out).args(SMALL).args(more));
}

/// A folder with nominal and test images, and a baseline trained for a moment.
pub struct Bench {
    folder: tempfile::TempDir,
}

impl Bench {
    pub fn new() -> Bench {
        let bench = Bench { folder: tempfile::tempdir().unwrap() };
        scenes(&bench.at("train"), "train", "8", &[]);
        scenes(&bench.at("test"), "test", "8", &["--contrast", "high", "--distance", "near"]);
        let data = bench.at("train");
        let args = ["pixels", "train", "--rounds", "3", "--pixels", "30", "--quiet"];
        succeeds(offnominal(&args, &bench.at("model")).arg("--data").arg(data));
        bench
    }

    pub fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn model(&self) -> PathBuf {
        self.at("model").join("model.safetensors")
    }
}

fn results(out: &Path) -> serde_json::Value {
    serde_json::from_str(&fs::read_to_string(out.join("pixels.json")).unwrap()).unwrap()
}

#[test]
fn scenes_become_a_page_and_files_say_the_same_as_the_model() {
    let bench = Bench::new();
    let evaluate = |out: &str, network: &[(&str, PathBuf)]| {
        let mut command =
            offnominal(&["pixels", "evaluate", "--quiet", "--replicates", "100"], &bench.at(out));
        command.arg("--data").arg(bench.at("test")).arg("--nominal").arg(bench.at("train"));
        for (name, path) in network {
            command.arg(name).arg(path);
        }
        succeeds(&mut command);
        results(&bench.at(out))
    };
    let by_model = evaluate("by-model", &[("--model", bench.model())]);
    let methods = by_model["evaluations"][0]["methods"].as_array().unwrap();
    assert_eq!(methods.len(), 11, "all methods of one pass");
    for method in methods {
        for mode in ["exact", "histogram", "paper400", "per_image"] {
            let auroc = &method["modes"][mode]["auroc"];
            assert!(auroc["low"].as_f64() <= auroc["value"].as_f64(), "{mode} of {}", method["method"]);
        }
        assert_eq!(method["has_seen_unknown"], method["method"] == "odin");
    }
    assert_eq!(
        (&by_model["evaluations"][0]["images"], &by_model["evaluations"][0]["held_out"]),
        (&6.into(), &2.into())
    );
    let page = fs::read_to_string(bench.at("by-model").join("pixels.html")).unwrap();
    assert!(
        page.contains("data:image/png;base64") && page.contains("What went wrong") && page.contains("<svg")
    );

    for split in ["test", "train"] {
        let mut command = offnominal(&["pixels", "predict", "--quiet"], &bench.at(&format!("said-{split}")));
        succeeds(command.arg("--data").arg(bench.at(split)).arg("--model").arg(bench.model()));
    }
    let said = |split: &str, what: &str| bench.at(&format!("said-{split}")).join(what);
    let by_files = evaluate(
        "by-files",
        &[
            ("--logits", said("test", "logits")),
            ("--features", said("test", "features")),
            ("--nominal-logits", said("train", "logits")),
            ("--nominal-features", said("train", "features")),
        ],
    );
    assert_eq!(by_model["evaluations"], by_files["evaluations"]);
}

#[test]
fn scores_are_arrays_as_large_as_the_labels() {
    let bench = Bench::new();
    let args = ["pixels", "score", "--quiet", "--passes", "3", "--method", "entropy,mutual-information"];
    let out = bench.at("scores");
    succeeds(offnominal(&args, &out).arg("--data").arg(bench.at("test")).arg("--model").arg(bench.model()));
    for method in ["entropy", "mutual-information"] {
        let bytes = fs::read(out.join(method).join("00003.npy")).unwrap();
        let header = String::from_utf8_lossy(&bytes[..128]).into_owned();
        assert!(header.contains("'shape': (32, 64,)"), "{header}");
        assert_eq!(bytes.len() % 64, 0);
    }
}

#[test]
fn the_same_seed_draws_the_same_files_and_nothing_is_overwritten() {
    let folder = tempfile::tempdir().unwrap();
    let [a, b] = ["a", "b"].map(|name| folder.path().join(name));
    for out in [&a, &b] {
        scenes(out, "test", "2", &["--set", "indoor", "--classes", "19"]);
    }
    for file in ["images/00000.png", "labels/00001.png", "depth/00001.png", "classes.toml", "scenes.json"] {
        assert!(fs::read(a.join(file)).unwrap() == fs::read(b.join(file)).unwrap(), "{file}");
    }
    let error = fails(&mut offnominal(&["pixels", "scenes", "-n", "1"], &a));
    assert!(error.contains("exists already"), "{error}");
}

#[test]
fn a_data_set_is_described() {
    let bench = Bench::new();
    let mut command = offnominal(&["pixels", "describe", "--quiet", "--json"], &bench.at("told"));
    command.arg("--data").arg(bench.at("test")).arg("--nominal").arg(bench.at("train"));
    let told: serde_json::Value = serde_json::from_slice(&succeeds(&mut command).stdout).unwrap();
    assert!(bench.at("told").join("description.json").is_file());
    let share: f64 = told["classes"].as_array().unwrap().iter().map(|c| c[1].as_f64().unwrap()).sum();
    let rest = told["unknown"].as_f64().unwrap() + told["ignored"].as_f64().unwrap();
    assert!((share + rest - 1.0).abs() < 1e-9, "{told}");
    let auroc = told["colour_auroc"]["value"].as_f64().unwrap();
    assert!((0.0..0.9).contains(&auroc), "colour alone does not solve the set: {told}");
}

#[test]
fn bad_input_is_named() {
    let bench = Bench::new();
    let (test, out) = (bench.at("test"), bench.at("out"));
    // With a temperature no images are held out, so the first one is the first to be read.
    let args = ["pixels", "evaluate", "--quiet", "--temperature", "1"];
    let evaluate = |more: &[&str]| fails(offnominal(&args, &out).arg("--data").arg(&test).args(more));
    assert!(evaluate(&[]).contains("expected --logits DIR or --model FILE"));
    let logits = bench.at("logits");
    fs::create_dir(&logits).unwrap();
    let path = logits.to_str().unwrap();
    assert!(evaluate(&["--logits", path]).contains("00000.npy"));
    let model = bench.model();
    let model = ["--model", model.to_str().unwrap()];
    let missing = evaluate(&[&model[..], &["--methods", "vim"]].concat());
    assert!(missing.contains("vim is fitted on nominal images"), "{missing}");
    let typo = evaluate(&[&model[..], &["--methods", "entropi"]].concat());
    assert!(typo.contains("did you mean \"entropy\""), "{typo}");
    let passes = evaluate(&[&model[..], &["--methods", "var-sum"]].concat());
    assert!(passes.contains("var-sum: expected logits of several random passes"), "{passes}");

    fs::write(logits.join("00000.npy"), b"\x93NUMPY").unwrap();
    assert!(evaluate(&["--logits", path]).contains("00000.npy"));
    fs::write(test.join("labels/00002.png"), fs::read(test.join("instances/00002.png")).unwrap()).unwrap();
    let foreign = evaluate(&model);
    assert!(foreign.contains("00002.png: labels that the label map does not have"), "{foreign}");
    let map = fs::read_to_string(test.join("classes.toml")).unwrap();
    fs::write(
        test.join("classes.toml"),
        map.replace("\"vehicle\"", "\"cart\"").replace("vehicle =", "cart ="),
    )
    .unwrap();
    let classes = evaluate(&model);
    assert!(classes.contains("the model knows the classes"), "{classes}");
    fs::remove_dir_all(test.join("labels")).unwrap();
    assert!(
        evaluate(&model).contains("expected labels, or images of one kind, found images in images and in ")
    );
    assert!(!out.exists(), "nothing is left behind");
}
