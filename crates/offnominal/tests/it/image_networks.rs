//! `images fit` and `images score`: a network that expects the next image, kept as a file, and what a build without
//! networks says.

use super::{bare, fails};
use std::path::Path;
use std::process::Command;

fn fit(folder: &Path, detector: &str, more: &[&str]) -> Command {
    let mut command = bare(&["images", "fit", "--env", "sap-goal0", "--detector", detector]);
    command.args(["--train", "2", "--validation", "1", "--images", "32", "--quiet", "--file"]);
    command.arg(folder.join("x.safetensors")).args(more);
    command
}

#[cfg(not(feature = "deep"))]
#[test]
fn a_build_without_networks_says_how_to_get_them() {
    let folder = tempfile::tempdir().unwrap();
    let error = fails(&mut fit(folder.path(), "lrdm", &[]));
    assert!(error.contains("cargo build --release --features deep"), "{error}");
}

#[test]
fn a_detector_that_is_no_network_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let error = fails(&mut fit(folder.path(), "patch-knn", &[]));
    assert!(error.contains("expected one of pred-ae, prednet, ldm, lrdm, rssm-ppm, patches"), "{error}");
}

#[cfg(feature = "deep")]
mod deep {
    use super::*;
    use crate::succeeds;

    const TINY: &str = r#"{ id = "lrdm", look = { side = 16 }, learning = { steps = 3, batch = 2 } }"#;

    #[test]
    fn a_network_is_fitted_kept_and_scores_the_same_again() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("x.safetensors");
        let said = succeeds(fit(folder.path(), TINY, &["--json"]).arg("--seed=1")).stdout;
        let said: serde_json::Value = serde_json::from_slice(&said).unwrap();
        assert!(said["numbers"].as_u64().unwrap() > 1_000 && said["steps"].as_u64().unwrap() > 2);
        let bytes = std::fs::read(&file).unwrap();
        succeeds(fit(folder.path(), TINY, &[]).arg("--seed=1"));
        assert!(bytes == std::fs::read(&file).unwrap(), "the same seed gives the same file");
        let score = |more: &[&str]| {
            let mut command = bare(&["images", "score", "--episodes", "2", "--quiet"]);
            let image = folder.path().join("strangest.png");
            let anomaly_spec = ["--anomaly", "act-offset", "--magnitude", "0.5", "--onset", "3"];
            let said = succeeds(command.arg(&file).args(anomaly_spec).args(more).arg("--image").arg(&image));
            assert!(std::fs::read(image).unwrap().starts_with(b"\x89PNG"));
            String::from_utf8(said.stdout).unwrap()
        };
        let csv = score(&["--csv"]);
        assert!(csv.starts_with("episode,step,score,label\n0,0,") && csv == score(&["--csv"]));
        assert!(score(&[]).contains("AUROC matched"));
    }

    #[test]
    fn what_cannot_be_had_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let error = fails(&mut fit(folder.path(), r#"{ id = "ldm", learning = { batch = 0 } }"#, &[]));
        assert!(error.contains("learning.batch: expected at least 1, found 0"), "{error}");
        let pickle = folder.path().join("model.pt");
        std::fs::write(&pickle, b"\x80\x02}q\x00.").unwrap();
        let mut command = bare(&["images", "score", "--quiet"]);
        assert!(fails(command.arg(pickle)).contains("expected a safetensors file"));
        if cfg!(not(feature = "gpu")) {
            let error = fails(&mut fit(folder.path(), "ldm", &["--device", "gpu"]));
            assert!(error.contains("--features gpu"), "{error}");
        }
    }
}
