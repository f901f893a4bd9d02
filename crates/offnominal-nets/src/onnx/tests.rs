//! ONNX's own test cases: each is computed as ONNX expects, or refused by the name of its operator.

use super::budget::Budget;
use super::node::{Attribute, Inputs, Written};
use super::ops::Op;
use super::{Beside, Graph, Kind, OnnxError, Tensor, Use};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use offnominal_core::Rng;
use serde::Deserialize;
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::sync::OnceLock;

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
    let read = Graph::read(&bytes, &Beside::new(), Use::Image);
    let mut graph = match read {
        Ok(graph) => graph,
        Err(why) => return Some(why),
    };
    let found = match graph.run(&numbers(&case.input)) {
        Ok(found) => found.data.clone(),
        Err(why) => return Some(why),
    };
    let wanted = numbers(&case.output);
    let fits = found.len() == wanted.len() && found.iter().zip(&wanted).all(|(&a, &b)| is_close(a, b));
    assert!(fits && graph.output(0).shape == case.shape, "{}: {found:?}, expected {wanted:?}", case.name);
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
    let counts = [computed.len(), refused.len()];
    println!("{counts:?}: {refused:#?}");
    assert!(counts[0] > 250, "{counts:?}: {refused:#?}");
}

/// A node of a convolution with whole numbers as attributes.
fn convolution(operator: &str, attributes: &[(&str, &[i64])]) -> Written {
    let attribute = |&(name, whole): &(&str, &[i64])| {
        (name.to_string(), Attribute { whole: whole.to_vec(), ..Attribute::default() })
    };
    let attributes = attributes.iter().map(attribute).collect();
    let inputs = vec!["x".into(), "w".into()];
    Written { operator: operator.into(), opset: 17, attributes, inputs, ..Written::default() }
}

/// What a convolution makes of an image and weights.
fn convolved(node: &Written, values: &[Tensor]) -> Tensor {
    let (op, mut out, mut kept) = (Op::read(node).unwrap().0, Tensor::default(), None);
    let (ids, once) = ([Some(0), Some(1)], OnceLock::new());
    let inputs = Inputs::new(values, &[], &ids);
    op.run(inputs, &mut out, (&mut kept, &once), &mut Budget::of(Use::Image)).unwrap();
    out
}

/// The definition, in double precision: of groups, with strides, dilations and zeros of four numbers.
#[test]
fn convolutions_are_as_they_are_defined() {
    let mut rng = Rng::new(7);
    let ([from, to, height, width], [rows, columns]) = ([4, 6, 11, 40], [3, 2]);
    for (groups, stride, dilation, pads) in
        [(1, [1, 1], [1, 1], [0; 4]), (2, [2, 1], [1, 3], [1, 0, 2, 3]), (2, [1, 3], [2, 1], [0, 2, 0, 1])]
    {
        let mut tensor = |shape: [usize; 4]| {
            let mut data = vec![0.0; shape.iter().product()];
            rng.fill_normal(&mut data);
            Tensor::new(Kind::Float, shape.to_vec(), data).unwrap()
        };
        let values = [tensor([2, from, height, width]), tensor([to, from / groups, rows, columns])];
        let whole = |numbers: &[usize]| numbers.iter().map(|&n| n as i64).collect::<Vec<_>>();
        let [strides, dilations, zeros] = [whole(&stride), whole(&dilation), whole(&pads)];
        let attributes: [(&str, &[i64]); 4] =
            [("strides", &strides), ("dilations", &dilations), ("pads", &zeros), ("group", &[groups as i64])];
        let found = convolved(&convolution("Conv", &attributes), &values);
        let [_, _, tall, wide] = found.shape[..] else { panic!("four axes") };
        assert_eq!(tall, (height + pads[0] + pads[2] - dilation[0] * (rows - 1) - 1) / stride[0] + 1);
        for (i, &y) in found.data.iter().enumerate() {
            let (image, k, row, column) =
                (i / (to * tall * wide), i / (tall * wide) % to, i / wide % tall, i % wide);
            let mut sum = 0.0;
            for (p, r, c) in grid([from / groups, rows, columns]) {
                let at = (row * stride[0] + r * dilation[0]).checked_sub(pads[0]);
                let across = (column * stride[1] + c * dilation[1]).checked_sub(pads[1]);
                let (Some(at), Some(across)) = (at, across) else { continue };
                if at < height && across < width {
                    let plane = image * from + k / (to / groups) * (from / groups) + p;
                    let weight = values[1].data[((k * (from / groups) + p) * rows + r) * columns + c];
                    sum +=
                        f64::from(weight) * f64::from(values[0].data[(plane * height + at) * width + across]);
                }
            }
            assert!((f64::from(y) - sum).abs() < 1e-5 * (1.0 + sum.abs()), "{groups} {i}: {y}, {sum}");
        }
    }
}

fn grid([a, b, c]: [usize; 3]) -> impl Iterator<Item = (usize, usize, usize)> {
    (0..a * b * c).map(move |i| (i / (b * c), i / c % b, i % c))
}

/// ⟨C x, y⟩ = ⟨x, Cᵀ y⟩: a transposed convolution is the transpose of the convolution with the same weights.
#[test]
fn transposed_convolutions_are_transposes() {
    let mut rng = Rng::new(8);
    let mut tensor = |shape: [usize; 4]| {
        let mut data = vec![0.0; shape.iter().product()];
        rng.fill_normal(&mut data);
        Tensor::new(Kind::Float, shape.to_vec(), data).unwrap()
    };
    let (x, y) = (tensor([1, 4, 21, 33]), tensor([1, 6, 11, 17]));
    let weights = tensor([6, 2, 3, 3]);
    let attributes: [(&str, &[i64]); 3] = [("strides", &[2, 2]), ("pads", &[1, 1, 1, 1]), ("group", &[2])];
    let there = convolved(&convolution("Conv", &attributes), &[x.clone(), weights.clone()]);
    let back = convolved(&convolution("ConvTranspose", &attributes), &[y.clone(), weights]);
    assert_eq!((&there.shape, &back.shape), (&y.shape, &x.shape));
    let dot = |a: &Tensor, b: &Tensor| -> f64 {
        a.data.iter().zip(&b.data).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum()
    };
    let (a, b) = (dot(&there, &y), dot(&x, &back));
    assert!((a - b).abs() < 1e-4 * a.abs().max(1.0), "{a} and {b}");
}
