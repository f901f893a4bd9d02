//! Weights that were published for torchvision's deeplabv3_resnet50, taken over as a model.

use crate::deep::Net;
use crate::label_map::LabelMap;
use anyhow::Result;
use offnominal_files::write;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// What to import.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Request {
    /// Weights, saved with safetensors.torch.save_file(model.state_dict(), FILE).
    pub weights: PathBuf,
    /// Label map with the classes, in the order of the network's outputs.
    pub map: PathBuf,
    /// Folder for model.safetensors.
    pub out: PathBuf,
}

impl Default for Request {
    fn default() -> Request {
        Request { weights: PathBuf::new(), map: PathBuf::new(), out: "runs/pixels".into() }
    }
}

/// What was imported.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Imported {
    /// The model's file.
    pub model: PathBuf,
    /// The classes that it knows.
    pub classes: Vec<String>,
}

/// Writes the model.
///
/// # Errors
/// If a file cannot be read, or holds another network or other classes.
pub fn run(request: &Request) -> Result<Imported> {
    let net = Net::import(&request.weights, LabelMap::load(&request.map)?.map.classes)?;
    let model = request.out.join("model.safetensors");
    write::atomically(&model, &net.to_tensors().to_bytes())?;
    Ok(Imported { model, classes: net.classes().to_vec() })
}
