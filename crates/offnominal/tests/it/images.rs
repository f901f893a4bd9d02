//! Campaigns of images, from the command line.

use crate::{bare, fails, offnominal, succeeds};
use std::path::{Path, PathBuf};

const CAMPAIGN: &str = r#"
name = "images"
seed = 5
envs = ["sap-goal0"]
images = 64
detectors = ["clock", "frame-knn-own", "patch-knn-own", { id = "patch-dynamics", rows = 600, training = { epochs = 2 } }]
anomalies = ["cam-noise", { id = "act-scaling", magnitude = 0.2 }, { id = "cam-patch", magnitude = 0.1 }]
strengths = ["strong"]
replicates = 20
false_alarms = 0.2
video = false

[episodes]
train = 8
validation = 6
test = 6
"#;

fn campaign(folder: &Path, text: &str) -> PathBuf {
    let path = folder.join("campaign.toml");
    std::fs::write(&path, text).unwrap();
    path
}

fn bench(folder: &Path, text: &str, out: &str) -> std::process::Command {
    let path = campaign(folder, text);
    offnominal(&["bench", path.to_str().unwrap(), "--quiet", "--jobs", "2"], &folder.join(out))
}

#[test]
fn a_campaign_of_images_ends_with_a_table_and_images() {
    let folder = tempfile::tempdir().unwrap();
    succeeds(&mut bench(folder.path(), CAMPAIGN, "one"));
    succeeds(&mut bench(folder.path(), CAMPAIGN, "other"));
    let read = |out: &str, file: &str| std::fs::read_to_string(folder.path().join(out).join(file)).unwrap();
    let table = read("one", "results.csv");
    assert!(table == read("other", "results.csv"), "the same seed gives the same bits");
    let rows = || table.lines().skip(1);
    assert!(rows().all(|r| r.split(',').nth(2) == Some("image")));
    let matched = |detector: &str, anomaly: &str| {
        let row = rows().find(|r| {
            r.contains(&format!(",{detector},"))
                && r.contains(&format!(",{anomaly},"))
                && r.contains("auroc_matched")
        });
        row.and_then(|r| r.split(',').nth(13)?.parse::<f64>().ok()).unwrap()
    };
    assert_eq!(matched("clock", "act-scaling"), 0.5);
    // A patch of noise may be near to some nominal patch; one that is covered is near to none.
    for (detector, anomaly) in
        [("frame-knn-own", "cam-noise"), ("frame-knn-own", "cam-patch"), ("patch-knn-own", "cam-patch")]
    {
        assert!(matched(detector, anomaly) > 0.8, "{detector}: {}", matched(detector, anomaly));
    }
    let page = read("one", "report.html");
    assert!(page.contains("What the camera saw") && page.contains("alt=\"where the score comes from\""));
}

#[test]
fn mistakes_in_campaigns_of_images_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let error = |from: &str, to: &str| fails(&mut bench(folder.path(), &CAMPAIGN.replace(from, to), "wrong"));
    assert!(error("\"frame-knn-own\"", "\"knn\"").contains("no image detector is called \"knn\""));
    assert!(error("images = 64", "images = 4").contains("images: expected at least 16, found 4"));
    assert!(error("images = 64\n", "").contains("no detector is called \"frame-knn-own\""));
    let weights = error("\"frame-knn-own\"", "{ id = \"knn-resnet\", weights = \"nobody/nothing\" }");
    assert!(weights.contains("no weights nobody/nothing") && weights.contains("hf download"), "{weights}");
    assert!(error("\"cam-noise\"", "\"cam-noice\"").contains("did you mean \"cam-noise\"?"));
}

#[test]
fn an_encoder_is_trained_and_used() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("encoder.safetensors");
    let path = file.to_str().unwrap();
    let train = ["images", "fit", "--quiet", "--env", "sap-goal0", "--train", "2", "--file", path];
    let few = ["--detector", "{ id = \"patches\", patches = 2000, epochs = 2 }"];
    succeeds(&mut bare(&[&train[..], &few[..]].concat()));
    let own = format!("{{ id = \"frame-knn-own\", encoder = {:?} }}", file.display().to_string());
    succeeds(&mut bench(folder.path(), &CAMPAIGN.replace("\"frame-knn-own\"", &own), "own"));
    let args = ["images", "fit", "--detector", "patches", "--env", "cartpole", "--file", "x.safetensors"];
    assert!(fails(&mut bare(&args)).contains("environment cartpole: expected a shipped policy tqc"));
}
