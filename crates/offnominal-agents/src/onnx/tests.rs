//! ONNX's own test cases: each is computed as ONNX expects, or refused by the name of its operator.

use super::graph::Graph;
use super::{Beside, OnnxError};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use serde_json::Value;
use std::fs;
use std::path::Path;

/// A case as `tests/onnx/make_conformance.py` writes it.
#[derive(Deserialize)]
struct Case {
    name: String,
    model: String,
    input: Vec<Value>,
    output: Vec<Value>,
    shape: Vec<usize>,
}

/// Numbers, of which those that are not finite are words.
fn numbers(values: &[Value]) -> Vec<f32> {
    let number = |v: &Value| v.as_f64().or_else(|| v.as_str()?.parse().ok()).unwrap() as f32;
    values.iter().map(number).collect()
}

/// As near as ONNX asks for.
fn is_close(found: f32, wanted: f32) -> bool {
    found == wanted
        || found.is_nan() && wanted.is_nan()
        || (found - wanted).abs() <= 1e-6 + 1e-3 * wanted.abs()
}

/// Why a case is refused, if it is.
fn refusal(case: &Case) -> Option<OnnxError> {
    let bytes = STANDARD.decode(&case.model).unwrap();
    let read = Graph::read(&bytes, &Beside::new());
    let mut graph = match read {
        Ok(graph) => graph,
        Err(why) => return Some(why),
    };
    let found = match graph.run(&numbers(&case.input)) {
        Ok(found) => found.to_vec(),
        Err(why) => return Some(why),
    };
    let wanted = numbers(&case.output);
    let fits = found.len() == wanted.len() && found.iter().zip(&wanted).all(|(&a, &b)| is_close(a, b));
    assert!(fits && graph.output().shape == case.shape, "{}: {found:?}, expected {wanted:?}", case.name);
    None
}

#[test]
fn every_case_of_an_operator_is_computed_or_refused_by_name() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/onnx/conformance");
    let (mut computed, mut refused) = (vec![], vec![]);
    for file in fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        let operator = path.file_stem().unwrap().to_string_lossy().to_string();
        for line in fs::read_to_string(&path).unwrap().lines() {
            let case: Case = serde_json::from_str(line).unwrap();
            match refusal(&case) {
                None => computed.push((operator.clone(), case.name)),
                Some(
                    why @ (OnnxError::Unsupported { .. }
                    | OnnxError::Type { .. }
                    | OnnxError::NotFinite { .. }),
                ) => {
                    let is_named =
                        !matches!(why, OnnxError::Unsupported { .. }) || why.to_string().contains(&operator);
                    assert!(is_named, "{}: {why}", case.name);
                    refused.push((case.name, why.to_string()));
                }
                Some(why) => panic!("{}: {why}", case.name),
            }
        }
        assert!(
            computed.iter().any(|(of, _)| *of == operator),
            "no case of {operator} is computed: {refused:?}"
        );
    }
    assert!(computed.len() > 150, "{} computed, {} refused: {refused:#?}", computed.len(), refused.len());
}
