//! Scores of every pixel of images, with labels or without: maps, pictures of them, and what lies above a threshold.

mod found;
mod overlay;
mod run;
mod sheet;
mod threshold;

use crate::fit::MethodParams;
use crate::inputs::{NetworkSource, NominalSource, OutlierSource, Reading};
use crate::layout::{ImageFolder, Layout};
use clap::Args;
use offnominal_files::provenance::Provenance;
use offnominal_work::cli::word_of;
use serde::{Deserialize, Serialize};
use std::fmt::{self, Display, Formatter};
use std::path::PathBuf;
use strum::{EnumString, IntoStaticStr, VariantArray};

pub use found::{Found, ImageScores};
pub use run::run;
pub use threshold::Threshold;

/// What to score; the seed is that of the context.
#[derive(Debug, Clone, PartialEq, Serialize, Args)]
pub struct Request {
    /// Images, with labels or without
    #[arg(long, value_name = "DIR")]
    pub data: ImageFolder,
    /// Methods (see `list pixel-methods`)
    #[arg(long = "method", value_delimiter = ',', required = true, value_name = "ID,…")]
    pub methods: Vec<String>,
    /// Method parameters, such as '{"outlier-head": {"hidden": 128}}'
    #[arg(long, default_value = "{}", value_name = "JSON", value_parser = params)]
    pub params: MethodParams,
    /// Temperature of odin
    #[arg(long, default_value_t = 1000.0, value_name = "T", value_parser = temperature)]
    pub temperature: f64,
    /// Score above which connected pixels are a component
    #[arg(long, value_name = "SCORE", allow_negative_numbers = true)]
    pub threshold: Option<f64>,
    /// Set the threshold so that this share of held-out nominal pixels is above
    #[arg(long, value_name = "SHARE", conflicts_with = "threshold", requires = "nominal", value_parser = share)]
    pub fpr: Option<f64>,
    /// Format of the score maps
    #[arg(long, value_parser = word_of::<MapFormat>(), default_value = "npy")]
    pub format: MapFormat,
    /// Output folder
    #[arg(long, value_name = "DIR", default_value = "runs/pixels")]
    pub out: PathBuf,
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
}

/// How score maps are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[derive(EnumString, VariantArray, IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
pub enum MapFormat {
    /// NumPy arrays
    Npy,
    /// HDF5 with the data set `value`, as SegmentMeIfYouCan takes it
    Hdf5,
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

/// Reads a share of pixels.
fn share(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if value > 0.0 && value < 1.0 => Ok(value),
        _ => Err(format!("expected a share of pixels between 0 and 1, found {text:?}")),
    }
}

/// What was written: METHOD/NAME.npy or .hdf5, METHOD/NAME.png, scores.json and scores.html.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Scores {
    /// What made it.
    #[serde(flatten)]
    pub made: Provenance,
    /// The folder, which has one folder for each method.
    pub folder: PathBuf,
    /// How the images are laid out.
    pub layout: Layout,
    /// Images that were scored.
    pub images: usize,
    /// Images and other files that were left out, each with the reason.
    pub left_out: Vec<String>,
    /// One entry for each method.
    pub methods: Vec<MethodScores>,
}

/// What a method says.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MethodScores {
    /// Its name.
    pub method: String,
    /// Above what pixels form components; none if no threshold was asked for.
    pub threshold: Option<Threshold>,
    /// One entry for each image.
    pub images: Vec<ImageScores>,
}

impl Display for Scores {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let Scores { folder, layout, images, left_out, methods, .. } = self;
        writeln!(
            out,
            "{}: {images} images ({}), {} methods",
            folder.display(),
            layout.name(),
            methods.len()
        )?;
        methods.iter().try_for_each(|method| writeln!(out, "{method}"))?;
        if !left_out.is_empty() {
            writeln!(out, "{} files are left out: {}", left_out.len(), left_out.join("; "))?;
        }
        write!(out, "{}", folder.join(sheet::PAGE).display())
    }
}

impl Display for MethodScores {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let Some(threshold) = &self.threshold else {
            return write!(out, "{}: no components without --threshold or --fpr", self.method);
        };
        let n: usize = self.images.iter().map(|image| image.components.len()).sum();
        let with = self.images.iter().filter(|image| !image.components.is_empty()).count();
        write!(out, "{}: {threshold}; {n} components in {with} images", self.method)
    }
}
