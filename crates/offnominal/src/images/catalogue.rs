//! The detectors of pictures by name.
//!
//! | id | features | |
//! |---|---|---|
//! | `frame-knn`, `patch-knn`, `patch-dynamics`, `offnominal` | the encoder of this project | shipped |
//! | `pred-ae`, `prednet`, `ldm`, `lrdm`, `rssm-ppm` | networks that learn what should be seen next | fitted; [`super::networks`] |
//!
//! The shipped encoder is [`offnominal_nets::vision::patches`], trained by `offnominal images train` on frames of the
//! worlds; a file of the same kind takes its place with `encoder = "FILE.safetensors"`.

use super::networks::NETWORKS;
use anyhow::{Context, Result};
use offnominal_core::catalogue::{BuildError, parse};
use offnominal_core::prelude::*;
use offnominal_detectors::images::{
    BASELINES, DynamicsShape, FrameKnn, Metric, OffnominalImages, PatchDynamics, PatchKnn, Pooling,
};
use offnominal_nets::Tensors;
use offnominal_nets::vision::Backbone;
use offnominal_nets::vision::patches::PatchCoder;
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
        id: "frame-knn",
        summary: "distance to the nearest nominal picture, in features of our encoder",
        build: |params| Ok(Box::new(parse::<Frames>(params)?.built()?)),
        exempt: &[],
    },
    Entry {
        id: "patch-knn",
        summary: "distance of the strangest patches to the nearest nominal ones, in features of our encoder",
        build: |params| Ok(Box::new(parse::<Patches>(params)?.built()?)),
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
        id: "offnominal",
        summary: "our default: patch-dynamics, the whole picture's motion, and commands that fit what is seen",
        build: |params| {
            let (backbone, shape) = dynamics(params)?;
            Ok(Box::new(OffnominalImages { backbone, shape }))
        },
        exempt: &[],
    },
];

/// The detectors of pictures.
pub fn detectors() -> Catalogue<dyn ImageDetector> {
    let all = [BASELINES, NETWORKS, OWN].concat();
    Catalogue::new("image detector", &all)
}

/// Parameters of `frame-knn`.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Frames {
    encoder: Option<PathBuf>,
    metric: Metric,
}

/// Parameters of `patch-knn`.
#[derive(Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Patches {
    encoder: Option<PathBuf>,
    pooling: Pooling,
    most: NonZeroUsize,
}

impl Default for Patches {
    fn default() -> Self {
        Patches { encoder: None, pooling: Pooling::Top, most: const { NonZeroUsize::new(8192).unwrap() } }
    }
}

impl Frames {
    fn built(self) -> Result<FrameKnn, BuildError> {
        Ok(FrameKnn { backbone: own(self.encoder)?, metric: self.metric })
    }
}

impl Patches {
    fn built(self) -> Result<PatchKnn, BuildError> {
        Ok(PatchKnn { backbone: own(self.encoder)?, pooling: self.pooling, most: self.most })
    }
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
    let read = || -> Result<PatchCoder> {
        let Some(path) = &path else {
            return Ok(PatchCoder::from_tensors(&Tensors::from_bytes(SHIPPED)?)?);
        };
        let bytes = std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
        let coder = Tensors::from_bytes(&bytes).and_then(|tensors| PatchCoder::from_tensors(&tensors));
        coder.with_context(|| path.display().to_string())
    };
    let coder = read().map_err(|e| BuildError::Missing(format!("encoder: {e:#}").into()))?;
    Ok(Arc::new(Arc::new(coder)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn everything_can_be_built_and_mistakes_are_named() {
        let all = detectors();
        for entry in all.entries() {
            match all.build(entry.id, &json!({})) {
                Err(BuildError::Missing(e)) => assert!(e.to_string().contains("--features deep"), "{e}"),
                built => drop(built.unwrap_or_else(|e| panic!("{}: {e}", entry.id))),
            }
        }
        let error = |id: &str, params: Value| all.build(id, &params).err().unwrap().to_string();
        assert!(error("patch-dynamic", json!({})).contains("did you mean \"patch-dynamics\"?"));
        assert!(error("patch-knn", json!({"polling": "max"})).contains("unknown field `polling`"));
        let missing = error("offnominal", json!({"encoder": "nowhere.safetensors"}));
        assert!(missing.contains("encoder: cannot read nowhere.safetensors"), "{missing}");
    }

    #[test]
    fn a_file_that_is_no_encoder_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.safetensors");
        let error = || detectors().build("patch-knn", &json!({ "encoder": path })).err().unwrap().to_string();
        std::fs::write(&path, b"\x80\x02}q\x00.").unwrap();
        assert!(error().contains("expected a safetensors file"), "{}", error());
        let mut tensors = Tensors::default();
        tensors.insert("encoder", &[2], &[0.0; 2]);
        std::fs::write(&path, tensors.to_bytes()).unwrap();
        assert!(error().contains("tensor \"encoder\": expected shape"), "{}", error());
    }
}
