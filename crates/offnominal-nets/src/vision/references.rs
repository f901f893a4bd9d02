//! The networks have the outputs of their references, with weights that a formula gives (`tests/data/make_*.py`).

#[path = "../../tests/data/networks.rs"]
mod networks;

use super::efficientnet::{EfficientNetBackbone, EfficientNetLite, Input, Reading};
use super::linear::Pack;
use super::resnet::ResNet18;
use super::transformer::Transformer;
use super::{Backbone, Features};
use crate::{TensorError, Tensors};
use networks::{clip, lite, put, resnet, uniform, vit};
use serde_json::Value;
use std::sync::Arc;

fn golden(network: &str, what: &str) -> Vec<f64> {
    let all: Value = serde_json::from_str(include_str!("../../tests/data/vision.json")).unwrap();
    serde_json::from_value(all[network][what].clone()).unwrap()
}

fn look(backbone: &dyn Backbone, side: usize) -> Features {
    let rgb: Vec<u8> = uniform("picture", side * side * 3).map(|u| (256.0 * u) as u8).collect();
    backbone.at(side, side).encode(&rgb).clone()
}

#[track_caller]
fn agree(found: &[f32], every: usize, wanted: &[f64]) {
    let found: Vec<f64> = found.iter().step_by(every).map(|&v| f64::from(v)).collect();
    assert_eq!(found.len(), wanted.len());
    let largest = wanted.iter().fold(0.0_f64, |m, z| m.max(z.abs()));
    let error = found.iter().zip(wanted).map(|(a, b)| (a - b).abs()).fold(0.0_f64, f64::max);
    assert!(error < 1e-4 * largest, "off by {error} of {largest}");
}

#[test]
fn resnet_is_that_of_torchvision() {
    let net = Arc::new(ResNet18::torchvision(&resnet(), 128).unwrap());
    agree(&look(&net, 128).whole, 7, &golden("resnet18", "whole"));
}

#[test]
fn the_transformer_is_that_of_timm() {
    let net = Arc::new(Transformer::timm(&vit(), 224).unwrap());
    let seen = look(&net, 224);
    agree(&seen.whole, 7, &golden("vit_small_patch16", "whole"));
    agree(&seen.patches, 397, &golden("vit_small_patch16", "patches"));
    assert_eq!((seen.rows, seen.columns, seen.width), (14, 14, 384));
}

#[test]
fn clip_is_that_of_transformers() {
    let net = Arc::new(Transformer::clip(&clip(), 224).unwrap());
    agree(&look(&net, 224).whole, 7, &golden("clip_vit_base_patch32", "whole"));
}

#[test]
fn efficientnets_are_those_of_the_package() {
    let all: Value = serde_json::from_str(include_str!("../../tests/data/efficientnet.json")).unwrap();
    for golden in all["networks"].as_array().unwrap() {
        let size = |what: &str| golden[what].as_u64().unwrap() as usize;
        let (height, width) = (size("height"), size("width"));
        let rgb: Vec<u8> = uniform("picture", height * width * 3).map(|u| (256.0 * u) as u8).collect();
        let net = EfficientNetLite::read(&lite(size("lite"))).unwrap();
        let seen = net.see(&rgb, width, &mut Pack::default());
        let [eight, sixteen, last] = &seen.scales;
        assert_eq!((eight.rows, sixteen.columns), (height.div_ceil(8), width.div_ceil(16)));
        let of = |what: &str| serde_json::from_value::<Vec<f64>>(golden[what].clone()).unwrap();
        let found = [&eight.values, &sixteen.values, &last.values, &seen.pooled, &seen.logits];
        for (values, what) in found.into_iter().zip(["8", "16", "32", "pooled", "logits"]) {
            agree(values, (values.len() / 60).max(1), &of(what));
        }
    }
}

#[test]
fn an_efficientnet_is_read_at_some_of_its_strides() {
    let net = Arc::new(EfficientNetLite::read(&lite(0)).unwrap());
    let rgb: Vec<u8> = uniform("picture", 72 * 104 * 3).map(|u| (256.0 * u) as u8).collect();
    let seen = net.see(&rgb, 104, &mut Pack::default());
    let of = |reading, input| {
        EfficientNetBackbone::new(net.clone(), reading, input).at(72, 104).encode(&rgb).clone()
    };
    let read = |reading| of(reading, Input::Times(1));
    let pooled = read(Reading::Pooled);
    assert_eq!((&pooled.whole, &pooled.patches), (&seen.pooled, &seen.scales[2].values));
    assert_eq!(read(Reading::Patches(vec![8])).patches, seen.scales[0].values);
    let both = read(Reading::Patches(vec![8, 16]));
    assert_eq!((both.rows, both.columns, both.width, both.whole.len()), (9, 13, 40 + 112, 152));
    assert_eq!(both.patches[40..152], seen.scales[1].values[..112]);
    assert_eq!(of(Reading::Patches(vec![16]), Input::Square(32)).n_patches(), 4);
    assert_eq!(of(Reading::Patches(vec![16]), Input::Times(2)).n_patches(), 9 * 13);
}

#[test]
fn other_networks_are_refused_by_name() {
    let refusal = |tensors: &Tensors| EfficientNetLite::read(tensors).err().unwrap().to_string();
    let other = refusal(&networks::efficientnet([16, 24, 32, 64, 96, 160, 280], [1, 2, 2, 3, 3, 4, 1]));
    assert!(other.contains("expected EfficientNet-Lite 0, 1 or 2") && other.contains("found 16"), "{other}");
    assert!(refusal(&resnet()).contains("found 0 blocks"));
    let mut wrong = lite(0);
    put(&mut wrong, "_blocks.3._depthwise_conv.weight", &[144, 1, 3, 3]);
    let found = refusal(&wrong);
    assert!(found.contains("\"_blocks.3._depthwise_conv.weight\": expected shape [144, 1, 5, 5]"), "{found}");
}

#[test]
fn other_sizes_and_other_files() {
    let net = Arc::new(Transformer::timm(&vit(), 128).unwrap());
    let seen = look(&net, 128);
    assert_eq!((seen.rows, seen.n_patches(), seen.patches.len()), (8, 64, 64 * 384));
    assert!(net.divides(128) && !net.divides(100));
    let missing = ResNet18::torchvision(&vit(), 128).err().unwrap();
    assert!(matches!(missing, TensorError::Missing { ref name, .. } if name == "conv1.weight"), "{missing}");
    let mut wrong = vit();
    put(&mut wrong, "blocks.3.mlp.fc1.weight", &[100, 384]);
    let shape = Transformer::timm(&wrong, 128).err().unwrap().to_string();
    assert!(
        shape.contains("\"blocks.3.mlp.fc1.weight\": expected shape [1536, 384], found [100, 384]"),
        "{shape}"
    );
}
