//! The image detectors that are trained networks: in every listing, and fitted by builds that have them.

use crate::images::trained;
use offnominal_core::prelude::*;
use serde_json::Value;

/// All five, in the order in which reports list them. Besides the parameters of its recipe each takes
/// `device = "cpu"` or `"gpu"`.
pub const NETWORKS: &[Entry<dyn ImageDetector>] = &[
    Entry {
        id: "pred-ae",
        summary: "an autoencoder that predicts how the image changes",
        build: |params| trained::detector("pred-ae", params),
        exempt: &[],
    },
    Entry {
        id: "prednet",
        summary: "errors that climb through layers of convolutional memory",
        build: |params| trained::detector("prednet", params),
        exempt: &[],
    },
    Entry {
        id: "ldm",
        summary: "an image as features, moved by the command, as an image again",
        build: |params| trained::detector("ldm", params),
        exempt: &[],
    },
    Entry {
        id: "lrdm",
        summary: "the same with a memory of the episode",
        build: |params| trained::detector("lrdm", params),
        exempt: &[],
    },
    Entry {
        id: "rssm-ppm",
        summary: "a world model: what it imagines before it looks, against what it makes of the look",
        build: |params| trained::detector("rssm-ppm", params),
        exempt: &[],
    },
];

/// All values of a network with these parameters: those of its preset, where they say nothing else. None for whatever
/// is no such network, and in a build without networks, which can neither fit one nor know its values.
pub fn preset(id: &str, params: &Value) -> Option<Value> {
    NETWORKS.iter().find(|entry| entry.id == id).and_then(|_| trained::preset(id, params))
}

/// The names, for messages.
pub fn ids() -> String {
    NETWORKS.iter().map(|entry| entry.id).collect::<Vec<_>>().join(", ")
}
