//! A network from a file says what onnxruntime says (`tests/onnx/make.py` made it), and what is wrong with others is said.

use super::*;
use std::fs;

const SIZE: [usize; 2] = [21, 34];

fn file(name: &str) -> Vec<u8> {
    fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/onnx").join(name)).unwrap()
}

fn image(n: usize) -> Vec<u8> {
    (0..n).map(|i| (i * 7 % 251) as u8).collect()
}

/// The network with another file beside it.
fn fed(feed: &str) -> Result<OnnxNet> {
    OnnxNet::read(&file("net.onnx"), &Beside::new(), feed.as_bytes(), "net.onnx")
}

#[track_caller]
fn refuses(feed: &str, want: &str) {
    let error = format!("{:#}", fed(feed).unwrap_err());
    assert!(error.starts_with("net.onnx: ") && error.contains(want), "{error}");
}

#[test]
fn logits_and_features_are_those_of_onnxruntime() {
    let said: serde_json::Value = serde_json::from_slice(&file("said.json")).unwrap();
    let of = |key: &str| serde_json::from_value::<Vec<f32>>(said[key].clone()).unwrap();
    let net = fed(&String::from_utf8(file("net.json")).unwrap()).unwrap();
    let [height, width] = SIZE;
    // Another size between, as in a data set of several.
    let other = net.forward(&image(3 * 9 * 13), 13).unwrap();
    assert_eq!(other.shape, [1, 12, 9, 13]);
    for _ in 0..2 {
        let output = net.forward(&image(3 * height * width), width).unwrap();
        assert_eq!(output.shape, [1, 12, height, width]);
        let (features, grid) = output.features.unwrap();
        assert_eq!(grid.to_vec(), serde_json::from_value::<Vec<usize>>(said["grid"].clone()).unwrap());
        let logits: Vec<f32> = output.logits.iter().step_by(5).copied().collect();
        for (found, want) in [(logits, of("logits")), (features, of("features"))] {
            assert_eq!(found.len(), want.len());
            let largest = want.iter().fold(0.0_f32, |m, x| m.max(x.abs()));
            assert!(found.iter().zip(&want).all(|(a, b)| (a - b).abs() < 1e-5 * largest), "{found:?}");
        }
    }
}

#[test]
fn images_are_resized_where_a_size_is_named_and_logits_are_those_of_the_image() {
    let plain = r#"{"mean": [0.5, 0.5, 0.5], "deviation": [0.2, 0.2, 0.2]}"#;
    let sized = r#"{"mean": [0.5, 0.5, 0.5], "deviation": [0.2, 0.2, 0.2], "size": "20x12"}"#;
    let grey = vec![77; 3 * 24 * 40];
    let [open, resized] = [plain, sized].map(|feed| fed(feed).unwrap().forward(&grey, 40).unwrap());
    assert_eq!((open.shape, resized.shape), ([1, 12, 24, 40], [1, 12, 24, 40]));
    assert!(resized.features.is_none());
}

#[test]
fn what_is_not_said_is_not_assumed() {
    refuses("{}", r#"expected a file beside it such as {"mean": ["#);
    refuses(r#"{"mean": [0, 0, 0], "deviation": [1, 1, 0]}"#, "deviations above 0");
    refuses(
        r#"{"mean": [0, 0, 0], "deviation": [1, 1, 1], "scale": 2}"#,
        "scale: expected 1 or 255, found 2",
    );
    refuses(r#"{"mean": [0, 0, 0], "deviation": [1, 1, 1], "std": 1}"#, "unknown field `std`");
    let features = r#"{"mean": [0, 0, 0], "deviation": [1, 1, 1], "features": "/head/Con"}"#;
    refuses(features, r#"features: expected the name of a value or node of the network, found "/head/Con""#);
    let error = OnnxNet::open(Path::new("nowhere.onnx")).unwrap_err();
    assert!(format!("{error:#}").contains("nowhere.onnx"), "{error:#}");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("net.onnx");
    fs::write(&path, file("net.onnx")).unwrap();
    let error = format!("{:#}", OnnxNet::open(&path).unwrap_err());
    assert!(error.contains("net.json: expected how images are fed, such as {"), "{error}");
}

#[test]
fn probabilities_are_refused() {
    let feed = br#"{"mean": [0, 0, 0], "deviation": [1, 1, 1]}"#;
    let open = |name: &str| OnnxNet::read(&file(name), &Beside::new(), feed, name);
    let error = open("shares.onnx").unwrap_err().to_string();
    assert!(
        error.contains("expected logits, found probabilities: the network ends with a softmax"),
        "{error}"
    );
    // Images are brought to the size of the input, which is fixed.
    let error = open("hidden.onnx").unwrap().forward(&image(3 * 9 * 13), 13).unwrap_err();
    assert!(format!("{error:#}").contains("the 3 values of a pixel add up to 1"), "{error:#}");
}
