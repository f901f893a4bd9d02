//! The networks have the outputs of their references, with weights that a formula gives (`tests/data/make_vision.py`).

#[path = "../../tests/data/networks.rs"]
mod networks;

use super::resnet::ResNet18;
use super::transformer::Transformer;
use super::{Backbone, Features};
use crate::{TensorError, Tensors};
use networks::{clip, put, resnet, uniform, vit};
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
