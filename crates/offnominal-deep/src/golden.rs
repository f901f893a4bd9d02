//! Networks whose weights a formula gives, for comparing them with what other programs say of the same.

use crate::design::{Architecture, Design, OutputStride};
use crate::{Inference, Segments};
use offnominal_core::Rng;
use offnominal_nets::Tensors;

/// Numbers in [0, 1) as in `tests/data/make_deeplabv3.py`.
pub fn uniform(name: &str, n: usize) -> impl Iterator<Item = f64> {
    let digest = name
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |h, b| (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3));
    (0..n as u64).map(move |i| {
        let mut z = digest.wrapping_add(i);
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 40) as f64 / 2.0_f64.powi(24)
    })
}

fn weights(name: &str, shape: &[usize]) -> Vec<f32> {
    let fan_in = shape[1..].iter().product::<usize>() as f64;
    let is_scale = name.ends_with("running_var") || (name.ends_with("weight") && shape.len() == 1);
    let value = |u: f64| match shape.len() {
        4 => (2.0 * u - 1.0) * (1.5 / fan_in).sqrt(),
        _ if is_scale => 0.5 + u,
        _ => 0.2 * (2.0 * u - 1.0),
    };
    uniform(name, shape.iter().product()).map(|u| value(u) as f32).collect()
}

#[cfg(feature = "burn")]
/// The weights of a design.
pub fn tensors(design: &Design) -> Tensors {
    let net = crate::Segmenter::new(design, &mut Rng::new(0), &crate::device::cpu());
    let mut tensors = Tensors::default();
    for declared in net.weights.declared() {
        tensors.insert(&declared.name, &declared.shape, &weights(&declared.name, &declared.shape));
    }
    tensors
}

/// Every so many-th of these is what another program says, to 1e-4 of the largest.
#[track_caller]
pub fn assert_close(logits: &[f32], every: usize, wanted: &[f64]) {
    let found: Vec<f64> = logits.iter().step_by(every).map(|&z| f64::from(z)).collect();
    assert_eq!(found.len(), wanted.len());
    let largest = wanted.iter().fold(0.0_f64, |m, z| m.max(z.abs()));
    let error = found.iter().zip(wanted).map(|(a, b)| (a - b).abs()).fold(0.0_f64, f64::max);
    assert!(error < 1e-4 * largest, "off by {error} of {largest}");
}

/// What `tests/data/make_small.py` wrote.
#[derive(serde::Deserialize)]
struct Said {
    every: usize,
    networks: Vec<Small>,
}

#[derive(serde::Deserialize)]
struct Small {
    network: Architecture,
    output_stride: OutputStride,
    logits: Vec<f64>,
}

/// Weights by the names and shapes of a shipped network, for so many classes.
fn like(path: &str, classes: usize) -> Tensors {
    let shipped = Tensors::from_bytes(&std::fs::read(path).unwrap()).unwrap();
    let mut tensors = Tensors::default();
    for (name, shape) in shipped.shapes() {
        let mut shape = shape.to_vec();
        if name.starts_with("head.classify") {
            shape[0] = classes;
        }
        tensors.insert(name, &shape, &weights(name, &shape));
    }
    tensors
}

#[test]
fn small_networks_say_what_they_say_in_pytorch() {
    let said: Said = serde_json::from_str(include_str!("../tests/data/small.json")).unwrap();
    let [height, width] = [33, 65];
    let rgb: Vec<u8> = uniform("image", height * width * 3).map(|u| (256.0 * u) as u8).collect();
    assert_eq!(said.networks.len(), 4);
    for small in said.networks {
        let Small { network, output_stride, logits } = small;
        let classes = (0..3).map(|i| format!("class {i}")).collect();
        let design = Design { network, output_stride, classes, ..Design::default() };
        let shipped = format!(
            "../../agents/pixels/{}-none.safetensors",
            if network == Architecture::Pspnet { "pspnet" } else { "deeplab" }
        );
        let net = Inference::new(&design, &like(&shipped, 3)).unwrap();
        let output = net.segment(&rgb, width, 1, &mut Rng::new(0)).unwrap();
        assert_close(&output.logits, said.every, &logits);
    }
}
