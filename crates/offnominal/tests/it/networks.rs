//! `pixels train --network`: convolutional networks from images to a page, and what a build without them says.

use super::pixels::Bench;
use super::{fails, offnominal};

#[cfg(not(feature = "deep"))]
#[test]
fn a_build_without_networks_says_how_to_get_them() {
    let bench = Bench::new();
    let args = ["pixels", "train", "--network", "pspnet", "--quiet"];
    let error = fails(offnominal(&args, &bench.at("net")).arg("--data").arg(bench.at("train")));
    assert!(error.contains("cargo build --release --features deep"), "{error}");
    let args = ["pixels", "train", "--modification", "dropout", "--quiet"];
    let error = fails(offnominal(&args, &bench.at("net")).arg("--data").arg(bench.at("train")));
    assert!(error.contains("the baseline has no modifications"), "{error}");
    assert!(!bench.at("net").exists());
    // Networks of the published sizes are not asked either, wherever they were trained.
    let mut tensors = offnominal_nets::Tensors::default();
    tensors.metadata.insert("model".into(), "segmenter".into());
    let design = r#"{"network": "pspnet", "preset": "paper", "modification": "none", "classes": ["road"]}"#;
    tensors.metadata.insert("design".into(), design.into());
    std::fs::write(bench.at("foreign.safetensors"), tensors.to_bytes()).unwrap();
    let mut command = offnominal(&["pixels", "evaluate", "--quiet"], &bench.at("page"));
    command.arg("--data").arg(bench.at("test")).arg("--model").arg(bench.at("foreign.safetensors"));
    assert!(fails(&mut command).contains("--features deep"));
}

#[cfg(feature = "deep")]
mod deep {
    use super::*;
    use crate::succeeds;
    use std::path::PathBuf;

    fn train(bench: &Bench, network: &str, modification: &str) -> (PathBuf, serde_json::Value) {
        let out = bench.at(&format!("{network}-{modification}"));
        let args = ["pixels", "train", "--network", network, "--modification", modification];
        let mut command = offnominal(&args, &out);
        command.args(["--steps", "3", "--batch", "2", "--seed", "1", "--quiet", "--json"]);
        command.arg("--data").arg(bench.at("train")).arg("--validation").arg(bench.at("train"));
        let card = serde_json::from_slice(&succeeds(&mut command).stdout).unwrap();
        assert!(out.join("model.json").is_file() && !out.join("checkpoint.safetensors").exists());
        (out.join("model.safetensors"), card)
    }

    /// The methods that an evaluation had.
    fn methods(bench: &Bench, model: &PathBuf, more: &[&str]) -> Vec<String> {
        let args = ["pixels", "evaluate", "--quiet", "--json", "--replicates", "100", "--temperature", "1"];
        let mut command = offnominal(&args, &bench.at("page"));
        command.arg("--data").arg(bench.at("test")).arg("--nominal").arg(bench.at("train"));
        let said = succeeds(command.arg("--model").arg(model).args(more)).stdout;
        let said: serde_json::Value = serde_json::from_slice(&said).unwrap();
        let methods = said["evaluations"][0]["methods"].as_array().unwrap();
        methods.iter().map(|m| m["method"].as_str().unwrap().to_string()).collect()
    }

    #[test]
    fn networks_are_trained_and_judged_by_the_methods_they_were_made_for() {
        let bench = Bench::new();
        let (dropout, card) = train(&bench, "pspnet", "dropout");
        assert_eq!(card["recipe"]["design"]["modification"], "dropout");
        assert!(card["mean_iou"]["low"].as_f64() <= card["mean_iou"]["value"].as_f64());
        let (again, same) = (std::fs::read(&dropout).unwrap(), train(&bench, "pspnet", "dropout").1);
        assert!(card["iou"] == same["iou"] && again == std::fs::read(&dropout).unwrap(), "the same seed");
        assert!(methods(&bench, &dropout, &["--passes", "2"]).contains(&"mutual-information".to_string()));
        let (confidence, _) = train(&bench, "deeplab", "confidence");
        let found = methods(&bench, &confidence, &[]);
        assert!(found.contains(&"confidence".to_string()) && !found.contains(&"var-sum".to_string()));
    }

    #[test]
    fn weights_under_the_names_of_a_network_are_taken_over() {
        let bench = Bench::new();
        let (model, card) = train(&bench, "deeplab", "none");
        let import = |network: &str| {
            let args = ["pixels", "import", "--network", network, "--seed", "1", "--quiet", "--json"];
            let mut command = offnominal(&args, &bench.at("import"));
            command.arg(&model).arg("--validation").arg(bench.at("train"));
            command
        };
        let found = succeeds(&mut import("deeplab")).stdout;
        let found: serde_json::Value = serde_json::from_slice(&found).unwrap();
        assert_eq!(found["mean_iou"], card["mean_iou"]);
        assert!(bench.at("import").join("model.json").is_file());
        let error = fails(&mut import("pspnet"));
        assert!(error.contains("expected weights of pspnet") && error.contains("head.level.1"), "{error}");
    }

    #[test]
    fn what_cannot_be_had_is_named() {
        let bench = Bench::new();
        let (plain, _) = train(&bench, "pspnet", "none");
        let mut command = offnominal(&["pixels", "evaluate", "--quiet", "--passes", "3"], &bench.at("page"));
        let error = fails(command.arg("--data").arg(bench.at("test")).arg("--model").arg(plain));
        assert!(error.contains("train one with --modification dropout"), "{error}");
        if cfg!(not(feature = "gpu")) {
            let args = ["pixels", "train", "--network", "pspnet", "--device", "gpu", "--quiet"];
            let error = fails(offnominal(&args, &bench.at("gpu")).arg("--data").arg(bench.at("train")));
            assert!(error.contains("--features gpu"), "{error}");
        }
    }
}
