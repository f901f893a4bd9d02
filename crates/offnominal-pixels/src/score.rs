//! Scores of every pixel as .npy files.

use crate::fit::{Fitter, FittingImages, MethodParams, check_params};
use crate::inputs::OutlierSource;
use crate::inputs::{NetworkSource, NominalSource, Reading};
use crate::scorer::Image;
use crate::written::write_array;
use anyhow::{Context as _, Result};
use clap::Args;
use offnominal_core::Seed;
use offnominal_engine::context::Context;
use offnominal_engine::request::positive;
use serde::Serialize;
use std::fmt::{self, Display, Formatter};
use std::path::PathBuf;

/// What to score; the seed is that of the context.
#[derive(Debug, Clone, PartialEq, Serialize, Args)]
pub struct Request {
    /// Data set; its labels give names and sizes
    #[arg(long, value_name = "DIR")]
    pub data: PathBuf,
    /// How data sets are read.
    #[command(flatten)]
    pub reading: Reading,
    /// The network.
    #[command(flatten)]
    pub network: NetworkSource,
    /// What methods are fitted on.
    #[command(flatten)]
    pub nominal: NominalSource,
    /// Images with pasted things, on which outlier-head is fitted.
    #[command(flatten)]
    pub outliers: OutlierSource,
    /// Methods (see `list pixel-methods`)
    #[arg(long = "method", value_delimiter = ',', required = true, value_name = "ID,…")]
    pub methods: Vec<String>,
    /// Method parameters, such as '{"outlier-head": {"hidden": 128}}'
    #[arg(long, default_value = "{}", value_name = "JSON", value_parser = params)]
    pub params: MethodParams,
    /// Temperature of odin
    #[arg(long, default_value_t = 1000.0, value_name = "T", value_parser = temperature)]
    pub temperature: f64,
    /// Output folder
    #[arg(long, value_name = "DIR", default_value = "runs/pixels")]
    pub out: PathBuf,
}

/// Reads parameters of methods.
pub(crate) fn params(text: &str) -> Result<MethodParams, String> {
    let expected = r#"expected parameters by method, such as {"outlier-head": {"hidden": 128}}"#;
    serde_json::from_str(text).map_err(|e| format!("{expected}: {e}"))
}

/// Reads a temperature above 0.
pub(crate) fn temperature(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if value > 0.0 && value.is_finite() => Ok(value),
        _ => Err(format!("expected a temperature above 0, found {text:?}")),
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
    let outliers = request.outliers.open(&request.network, seed)?;
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

impl Display for Scores {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        write!(out, "{}: {} images, {} methods", self.folder.display(), self.images, self.methods.len())
    }
}
