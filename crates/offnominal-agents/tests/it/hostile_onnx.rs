//! Malicious ONNX files are refused before they take memory or time. The files are built here, field by field.

use offnominal_agents::onnx::{Beside, Onnx, OnnxError};
use offnominal_core::prelude::*;

/// A number of seven bits a byte.
fn varint(mut n: u64) -> Vec<u8> {
    let mut bytes = vec![];
    while n > 127 {
        bytes.push(n as u8 | 128);
        n >>= 7;
    }
    bytes.push(n as u8);
    bytes
}

fn number(field: u64, n: i64) -> Vec<u8> {
    [varint(field << 3), varint(n as u64)].concat()
}

fn bytes(field: u64, content: &[u8]) -> Vec<u8> {
    [varint(field << 3 | 2), varint(content.len() as u64), content.to_vec()].concat()
}

fn text(field: u64, content: &str) -> Vec<u8> {
    bytes(field, content.as_bytes())
}

/// Weights of that shape, whether or not there are as many.
fn weights(name: &str, shape: &[i64], values: &[f32]) -> Vec<u8> {
    let raw: Vec<u8> = values.iter().flat_map(|x| x.to_le_bytes()).collect();
    let shape: Vec<u8> = shape.iter().flat_map(|&n| number(1, n)).collect();
    bytes(5, &[shape, number(2, 1), text(8, name), bytes(9, &raw)].concat())
}

/// Whole numbers.
fn whole(name: &str, values: &[i64]) -> Vec<u8> {
    let data: Vec<u8> = values.iter().flat_map(|&n| number(7, n)).collect();
    bytes(5, &[number(1, values.len() as i64), number(2, 7), text(8, name), data].concat())
}

fn node(operator: &str, inputs: &str, output: &str, attributes: &[(&str, &[i64])]) -> Vec<u8> {
    let inputs: Vec<u8> = inputs.split_whitespace().flat_map(|name| text(1, name)).collect();
    let attribute = |(name, values): &(&str, &[i64])| {
        let values: Vec<u8> = values.iter().flat_map(|&n| number(8, n)).collect();
        bytes(5, &[text(1, name), values].concat())
    };
    let attributes: Vec<u8> = attributes.iter().flat_map(attribute).collect();
    bytes(1, &[inputs, text(2, output), text(4, operator), attributes].concat())
}

fn value(field: u64, name: &str, shape: &[i64]) -> Vec<u8> {
    let axes: Vec<u8> = shape.iter().flat_map(|&n| bytes(1, &number(1, n))).collect();
    bytes(field, &[text(1, name), bytes(2, &bytes(1, &bytes(2, &axes)))].concat())
}

/// A file whose input is `x` with that shape and whose output is `y`.
fn model(shape: &[i64], parts: &[Vec<u8>]) -> Vec<u8> {
    let graph = bytes(7, &[parts.concat(), value(11, "x", shape), value(12, "y", &[1, 1])].concat());
    [graph, bytes(8, &number(2, 17))].concat()
}

/// An environment with so many numbers and one action.
fn environment(numbers: usize) -> EnvSpec {
    EnvSpec {
        observation: (0..numbers).map(|i| Channel::unbounded(&format!("o{i}"), "a number", "1")).collect(),
        action: vec![Channel::new("a", "an action", "1", -1.0, 1.0)],
        ..EnvSpec::new("w", "an environment of numbers")
    }
}

/// Refused with these words, in little memory.
#[track_caller]
fn refuses(file: &[u8], numbers: usize, want: &str) {
    let mut error = None;
    let spec = environment(numbers);
    let used = allocation_counter::measure(|| error = Some(Onnx::from_bytes(file, &spec).err()));
    let error = error.flatten().expect("it is refused").to_string();
    assert!(error.contains(want), "{error}");
    assert!(used.bytes_max < 400 << 20, "{} bytes", used.bytes_max);
}

#[test]
fn shapes_that_overflow_or_are_negative_are_refused() {
    let through = node("Add", "x w", "y", &[]);
    for shape in [&[1_i64 << 62, 4][..], &[1 << 33, 1 << 33], &[i64::MAX, i64::MAX, 0], &[-1]] {
        refuses(&model(&[1, 1], &[weights("w", shape, &[]), through.clone()]), 1, "numbers of a tensor");
    }
    refuses(&model(&[1, 1], &[weights("w", &[3], &[1.0]), through.clone()]), 1, "shape and numbers disagree");
    refuses(&model(&[1, 1], &[weights("w", &[1; 9], &[1.0]), through.clone()]), 1, "axes of a tensor");
    refuses(&model(&[1 << 40, 1 << 40], &[through]), 1, "numbers of a tensor");
}

#[test]
fn values_that_grow_are_refused_before_they_are_allocated() {
    // Each node squares the number of numbers: [n, 1] + [1, n].
    let (row, column) = (vec![0.0; 1 << 14], [1 << 14, 1]);
    let blown = [
        weights("r", &[1, 1 << 14], &row),
        weights("c", &column, &row),
        node("Add", "r c", "big", &[]),
        node("Add", "big x", "y", &[]),
    ];
    refuses(&model(&[1, 1], &blown), 1, "numbers of a tensor");
    // Many of 2²² numbers, each of which alone is small enough.
    let mut many = vec![weights("r", &[1, 2048], &row[..2048]), weights("c", &[2048, 1], &row[..2048])];
    many.push(node("Add", "r c", "v0", &[]));
    many.extend((1..64).map(|i| node("Identity", "v0", &format!("v{i}"), &[])));
    many.push(node("Identity", "v0", "y", &[]));
    refuses(&model(&[1, 1], &many), 1, "numbers of all values: expected at most 67108864, found 71303168");
    let sums = (0..64).map(|i| node("Add", "r c", if i == 63 { "y" } else { "v" }, &[]));
    let work: Vec<_> = many[..2].iter().cloned().chain(sums).collect();
    refuses(
        &model(&[1, 1], &work),
        1,
        "multiplications per action: expected at most 268435456, found 301989888",
    );
    let doubled = (0..40).map(|i| node("Concat", &format!("v{i} v{i}"), &format!("v{}", i + 1), &[]));
    let ends = [node("Identity", "x", "v0", &[]), node("Identity", "v40", "y", &[])];
    let doubling: Vec<_> = ends[..1].iter().cloned().chain(doubled).chain(ends[1..].to_vec()).collect();
    refuses(&model(&[1, 1], &doubling), 1, "numbers of");
}

#[test]
fn windows_that_overflow_or_never_end_are_refused() {
    let kernel = weights("k", &[1, 1, 1, 1], &[1.0]);
    let conv = |attributes: &[(&str, &[i64])]| {
        model(&[1, 1, 1, 1], &[kernel.clone(), node("Conv", "x k", "y", attributes)])
    };
    let huge = [1_i64 << 62; 4];
    refuses(&conv(&[("pads", &huge)]), 1, "expected numbers from 0 to 65536, found [4611686018427387904]");
    refuses(&conv(&[("pads", &huge), ("strides", &huge[..2])]), 1, "numbers from 0 to 65536");
    refuses(&conv(&[("pads", &[-1, 0, 0, 0])]), 1, "found [-1]");
    refuses(&conv(&[("pads", &[60_000; 4])]), 1, "numbers of a tensor");
    refuses(&conv(&[("dilations", &[i64::MAX, 2])]), 1, "numbers from 0 to 65536");
    // A window whose taps lie far apart would need wide zeros around a small image.
    let far = weights("k", &[1, 1, 2, 2], &[1.0; 4]);
    let far = |attributes: &[(&str, &[i64])]| {
        model(&[1, 1, 1, 1], &[far.clone(), node("Conv", "x k", "y", attributes)])
    };
    refuses(&far(&[("dilations", &[60_000; 2]), ("pads", &[30_000; 4])]), 1, "numbers of");
    refuses(&conv(&[("group", &[0])]), 1, "one group or more");
    refuses(&conv(&[("group", &[i64::MAX])]), 1, "do not fit");
    let back = |attributes: &[(&str, &[i64])]| {
        model(&[1, 1, 1, 1], &[kernel.clone(), node("ConvTranspose", "x k", "y", attributes)])
    };
    refuses(&back(&[("output_padding", &[60_000; 2]), ("strides", &[65_536; 2])]), 1, "do not fit");
    refuses(&back(&[("output_padding", &[60_000, 2]), ("strides", &[60_001, 1])]), 1, "do not fit");
    refuses(&back(&[("output_shape", &[60_000; 2]), ("dilations", &[9; 2])]), 1, "do not fit");
    refuses(&back(&[("pads", &[1; 4])]), 1, "do not fit");
    let pool = |attributes: &[(&str, &[i64])]| model(&[1, 1, 1, 1], &[node("MaxPool", "x", "y", attributes)]);
    refuses(&pool(&[("kernel_shape", &huge[..2]), ("pads", &huge)]), 1, "numbers from 0 to 65536");
    refuses(&pool(&[("kernel_shape", &[60_000, 60_000]), ("pads", &[30_000; 4])]), 1, "do not fit");
    refuses(&pool(&[("kernel_shape", &[250, 250]), ("pads", &[240; 4])]), 1, "multiplications");
    // Weights without numbers, whose windows are large all the same.
    let empty = weights("k", &[1, 0, 1 << 40, 1 << 40], &[]);
    refuses(&model(&[1, 1, 1, 1], &[empty, node("Conv", "x k", "y", &[])]), 1, "numbers of a tensor");
    let zero = conv(&[("strides", &[0, 0]), ("pads", &[0; 4])]);
    Onnx::from_bytes(&zero, &environment(1)).expect("a stride of zero counts as one");
}

#[test]
fn shapes_that_a_node_makes_are_checked() {
    let reshaped = |wanted: &[i64]| model(&[1, 4], &[whole("s", wanted), node("Reshape", "x s", "y", &[])]);
    refuses(&reshaped(&[i64::MAX, i64::MAX]), 4, "numbers of a tensor");
    refuses(&reshaped(&[1 << 40]), 4, "expected finite numbers, found 1099511627776");
    refuses(&reshaped(&[1 << 24, 1 << 24]), 4, "numbers of a tensor");
    refuses(&reshaped(&[1 << 24, 1 << 24, -1]), 4, "numbers of a tensor");
    refuses(&reshaped(&[3, -1]), 4, "do not fit");
    refuses(&reshaped(&[1; 20]), 4, "do not fit");
    let axes: Vec<i64> = (0..100_000).collect();
    let lifted = [whole("s", &axes), node("Unsqueeze", "x s", "y", &[])];
    refuses(&model(&[1, 4], &lifted), 4, "do not fit");
    let turned = |order: &[i64]| model(&[1, 4], &[node("Transpose", "x", "y", &[("perm", order)])]);
    for order in [&[0_i64, 0][..], &[1, 1], &[i64::MIN, 0], &[i64::MAX, 0], &[2, 0]] {
        refuses(&turned(order), 4, "do not fit");
    }
    for (operator, inputs) in [("Flatten", "x"), ("Concat", "x x"), ("Softmax", "x"), ("ArgMax", "x")] {
        let far = [node(operator, inputs, "y", &[("axis", &[i64::MIN])])];
        refuses(&model(&[1, 4], &far), 4, "do not fit");
    }
    // A shape that an observation decides would fit at the trial and not later.
    let observed = model(&[1, 1], &[node("Exp", "x", "s", &[]), node("Reshape", "x s", "y", &[])]);
    refuses(&observed, 1, "expected a shape that is the same for all inputs");
}

#[test]
fn sizes_that_a_node_is_given_are_checked() {
    let given = |operator: &str, inputs: &str, numbers: &[i64]| {
        model(&[1, 4], &[whole("s", numbers), node(operator, inputs, "y", &[])])
    };
    refuses(&given("Expand", "x s", &[1 << 14, 1 << 14, 1]), 4, "expected at most");
    refuses(&given("Expand", "x s", &[1; 9]), 4, "do not fit");
    refuses(&given("Expand", "x s", &[3]), 4, "do not fit");
    refuses(&given("Pad", "x s", &[1 << 24, 1 << 24, 1 << 24, 1 << 24]), 4, "expected at most");
    refuses(&given("Pad", "x s", &[i64::MAX; 4]), 4, "do not fit");
    refuses(&given("Pad", "x s", &[-1, -1, -1, -1]), 4, "do not fit");
    refuses(&given("Pad", "x s", &[1]), 4, "do not fit");
    refuses(&given("Resize", "x s s", &[1, 1 << 24]), 4, "expected at most");
    refuses(&given("Gather", "x s", &[4]), 4, "do not fit");
    refuses(&given("Gather", "x s", &[i64::MIN]), 4, "do not fit");
    refuses(&given("Slice", "x s s s s", &[0]), 4, "do not fit");
    refuses(&given("Slice", "x s s s", &[i64::MAX]), 4, "do not fit");
    refuses(&given("ReduceMean", "x s", &[7]), 4, "do not fit");
    let filled = [whole("s", &[1 << 24, 1 << 24]), node("ConstantOfShape", "s", "y", &[])];
    refuses(&model(&[1, 4], &filled), 4, "numbers of a tensor");
    let scaled =
        |by: f32| model(&[1, 4], &[weights("s", &[2], &[1.0, by]), node("Upsample", "x s", "y", &[])]);
    refuses(&scaled(1e30), 4, "do not fit");
    refuses(&scaled(1e8), 4, "numbers of a tensor");
    refuses(&scaled(0.0), 4, "do not fit");
    refuses(&scaled(-1.0), 4, "do not fit");
    let plain = [weights("n", &[2], &[1.0; 2]), node("BatchNormalization", "x n n n n", "y", &[])];
    refuses(&model(&[1, 4], &plain), 4, "do not fit");
    let places = |at: f32| {
        let window: &[i64] = &[2, 2];
        let unpool = node("MaxUnpool", "x s", "y", &[("kernel_shape", window), ("strides", window)]);
        model(&[1, 1, 1, 1], &[weights("s", &[1, 1, 1, 1], &[at]), unpool])
    };
    refuses(&places(-1.0), 1, "a place that is none");
    refuses(&places(4.0), 1, "do not fit");
}

#[test]
fn what_is_not_feed_forward_is_named() {
    for operator in ["Loop", "If", "Scan", "Tile", "NonZero", "TopK", "Where", "GridSample", "LSTM"] {
        let file = model(&[1, 1], &[node(operator, "x x x", "y", &[])]);
        refuses(&file, 1, &format!("operator {operator}"));
    }
}

#[test]
fn nodes_without_end_and_fields_without_content_are_refused() {
    let nodes: Vec<Vec<u8>> = (0..20_000).map(|_| node("Identity", "x", "y", &[])).collect();
    refuses(&model(&[1, 1], &nodes), 1, "nodes: expected at most 10000");
    let tensors: Vec<Vec<u8>> = (0..20_000).map(|_| weights("w", &[1], &[1.0])).collect();
    refuses(&model(&[1, 1], &tensors), 1, "tensors: expected at most 10000");
    // Packed numbers of which there are none, in the places where one is read.
    let kind = bytes(5, &[bytes(2, b""), text(8, "w")].concat());
    refuses(&model(&[1, 1], &[kind, node("Add", "x w", "y", &[])]), 1, "found type number 0");
    let alpha = bytes(1, &[text(1, "x"), text(2, "y"), text(4, "Elu"), bytes(5, &bytes(2, b""))].concat());
    let _ = Onnx::from_bytes(&model(&[1, 1], &[alpha]), &environment(1));
    let axis = bytes(11, &[text(1, "x"), bytes(2, &bytes(1, &bytes(2, &bytes(1, &bytes(1, b"")))))].concat());
    let _ = Onnx::from_bytes(&bytes(7, &[axis, value(12, "x", &[1])].concat()), &environment(1));
    // Messages in messages are never followed further than the format goes.
    let deep = (0..5_000).fold(vec![], |inner, _| bytes(5, &inner));
    refuses(&deep, 1, "a file without a graph");
}

#[test]
fn weights_must_be_finite() {
    let with = |x: f32| model(&[1, 1], &[weights("w", &[1], &[x]), node("Mul", "x w", "y", &[])]);
    refuses(&with(f32::NAN), 1, "weights \"w\": expected finite numbers, found NaN at index 0");
    refuses(&with(f32::INFINITY), 1, "found inf at index 0");
    let slope = [text(1, "alpha"), varint(2 << 3 | 5), f32::NAN.to_le_bytes().to_vec()].concat();
    let parts = [text(1, "x"), text(2, "y"), text(4, "Elu"), bytes(5, &slope)].concat();
    refuses(&model(&[1, 1], &[bytes(1, &parts)]), 1, "weights \"alpha\": expected finite numbers, found NaN");
}

#[test]
fn an_output_that_is_not_a_number_is_no_action() {
    // log(x) of a negative observation; a rectifier, a bound and a maximum must not hide it.
    let hidden = model(
        &[1, 1],
        &[
            weights("low", &[1], &[-0.5]),
            node("Log", "x", "l", &[]),
            node("Relu", "l", "r", &[]),
            node("Max", "r low", "m", &[]),
            node("Clip", "m low", "y", &[]),
        ],
    );
    let mut policy = Onnx::from_bytes(&hidden, &environment(1)).unwrap();
    let mut act = |x: f32| {
        let mut action = [0.0];
        policy.act(&[x], &mut action, &mut Rng::new(0));
        action[0]
    };
    assert!(act(-1.0).is_nan());
    assert_eq!(act(2.0_f32.exp()), 1.0, "clipped to the bounds of the environment");
}

/// The field of numbers packed as little-endian bytes.
fn packed<const N: usize>(field: u64, numbers: &[[u8; N]]) -> Vec<u8> {
    bytes(field, &numbers.concat())
}

#[test]
fn the_same_weights_act_alike_however_they_are_written() {
    let values = [0.5_f32, -1.5, 2.0];
    let tensor = |kind: i64, numbers: Vec<u8>| {
        let head = [number(1, 3), number(2, kind), text(8, "w")].concat();
        bytes(5, &[head, numbers].concat())
    };
    let halves = [0x3800_u16, 0xbe00, 0x4000];
    let singles = values.map(f32::to_le_bytes);
    let doubles = values.map(|x| f64::from(x).to_le_bytes());
    // A real Cast, so that all types meet the same node.
    let to_floats = || node("Cast", "w", "v", &[("to", &[1])]);
    let ways = [
        (1, packed(4, &singles)),
        (1, packed(9, &singles)),
        (11, packed(10, &doubles)),
        (11, packed(9, &doubles)),
        (10, halves.iter().flat_map(|&bits| number(5, i64::from(bits))).collect()),
        (10, packed(9, &halves.map(u16::to_le_bytes))),
    ];
    let act = |kind: i64, numbers: &Vec<u8>, beside: &Beside| {
        let nodes = [to_floats(), node("Mul", "x v", "m", &[]), node("MatMul", "m o", "y", &[])];
        let parts =
            [vec![tensor(kind, numbers.clone()), weights("o", &[3, 1], &[0.1; 3])], nodes.to_vec()].concat();
        let mut action = [0.0];
        let mut policy = Onnx::with_files(&model(&[1, 3], &parts), beside, &environment(3))?;
        policy.act(&[1.0, 0.2, -0.3], &mut action, &mut Rng::new(0));
        Ok::<f32, OnnxError>(action[0])
    };
    let wanted = 0.1 * (0.5 - 0.3 - 0.6);
    for (kind, numbers) in &ways {
        let found = act(*kind, numbers, &Beside::new()).unwrap();
        assert!((found - wanted).abs() < 1e-6, "type {kind}: {found}, expected {wanted}");
    }
    let pair = |key: &str, value: &str| bytes(13, &[text(1, key), text(2, value)].concat());
    let outside =
        [pair("location", "w.data"), pair("offset", "4"), pair("length", "12"), number(14, 1)].concat();
    let file = [vec![0; 4], singles.concat()].concat();
    let found = act(1, &outside, &Beside::from([("w.data".into(), file)])).unwrap();
    assert!((found - wanted).abs() < 1e-6, "{found}, expected {wanted}");
    let error = act(1, &outside, &Beside::new()).unwrap_err().to_string();
    assert!(error.contains("\"w.data\", which is not beside it"), "{error}");
    let short = act(1, &outside, &Beside::from([("w.data".into(), vec![0; 15])]));
    assert!(short.unwrap_err().to_string().contains("place makes no sense"));
    // Numbers in the field of another type, bits of more than 16, and types that are not read.
    for (kind, numbers) in
        [(10, packed(4, &singles)), (1, packed(10, &doubles)), (16, packed(9, &halves.map(u16::to_le_bytes)))]
    {
        assert!(
            act(kind, &numbers, &Beside::new())
                .unwrap_err()
                .to_string()
                .contains("weights \"w\": expected float16")
        );
    }
    let wide: Vec<u8> = (0..3).flat_map(|_| number(5, 0x1_3c00)).collect();
    assert!(act(10, &wide, &Beside::new()).unwrap_err().to_string().contains("found NaN"));
}
