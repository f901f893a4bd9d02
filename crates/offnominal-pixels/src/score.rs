//! Scores of every pixel as .npy files.

use crate::fit::{Fitter, FittingImages, MethodParams, check_params};
use crate::inputs::{NetworkSource, NominalSource, Reading};
use crate::scorer::Image;
use crate::written::write_array;
use anyhow::{Context as _, Result};
use offnominal_core::Seed;
use offnominal_engine::context::Context;
use offnominal_engine::request::positive;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// What to score; the seed is that of the context.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Request {
    /// The data set: its labels give the names and sizes of the images.
    pub data: PathBuf,
    /// How it is read.
    pub reading: Reading,
    /// The network.
    pub network: NetworkSource,
    /// What methods are fitted on.
    pub nominal: NominalSource,
    /// Images with pasted things, on which outlier-head is fitted.
    pub outliers: NominalSource,
    /// Methods.
    pub methods: Vec<String>,
    /// Parameters of methods.
    pub params: MethodParams,
    /// Temperature of odin.
    pub temperature: f64,
    /// Folder for everything that is written.
    pub out: PathBuf,
}

impl Default for Request {
    fn default() -> Request {
        Request {
            data: PathBuf::new(),
            reading: Reading::default(),
            network: NetworkSource::default(),
            nominal: NominalSource::default(),
            outliers: NominalSource::default(),
            methods: Vec::new(),
            params: MethodParams::new(),
            temperature: 1000.0,
            out: "runs/pixels".into(),
        }
    }
}

/// What was written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Scores {
    /// The folder, which has one folder for each method.
    pub folder: PathBuf,
    /// Images.
    pub images: usize,
    /// Methods.
    pub methods: Vec<String>,
}

/// Writes METHOD/NAME.npy; larger is more unknown.
///
/// # Errors
/// If something that a method needs is missing, or a file cannot be written.
pub fn run(request: &Request, context: &Context) -> Result<Scores> {
    positive("temperature", request.temperature)?;
    check_params(&request.params, &request.methods)?;
    let seed = Seed(context.seed);
    let (set, network) = (request.reading.open(&request.data)?, request.network.open_for(1, seed)?);
    let nominal = request.nominal.open(&request.reading, &request.network, seed)?;
    let outliers = request.outliers.open(&Reading::default(), &request.network, seed)?;
    let images = FittingImages {
        nominal: nominal.as_ref().map(|(set, network)| (set, network)),
        outliers: outliers.as_ref().map(|(set, network)| (set, network)),
    };
    let odin = (request.temperature, false);
    let scorers = Fitter::new(images, &request.params, context).scorers(&request.methods, odin)?;
    context.map(set.samples.len(), "images", |i| {
        let sample = &set.samples[i];
        let (labels, output) = network.predict(&set, sample)?;
        let (shape, image) = ([labels.height, labels.width], Image::new(sample, &labels, &output));
        scorers.iter().try_for_each(|scorer| {
            let scores = scorer.scores(&image).with_context(|| sample.name.clone())?;
            write_array(&request.out.join(&scorer.id), &sample.name, &shape, &scores)
        })
    })?;
    let (folder, methods) = (request.out.clone(), request.methods.clone());
    Ok(Scores { folder, images: set.samples.len(), methods })
}
