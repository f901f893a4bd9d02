//! `pixels score`: score maps as files.

use crate::cli::Common;
use crate::cli::pixels::inputs::{NetworkArgs, NominalArgs, OutlierArgs, ReadingArgs};
use crate::cli::pixels::{Outcome, print};
use anyhow::Result;
use clap::Args;
use offnominal_pixels::fit::MethodParams;
use offnominal_pixels::score::{Request, run};
use std::path::PathBuf;

/// Arguments of `pixels score`.
#[derive(Debug, Args)]
pub struct Score {
    /// The data set: its labels give the names and sizes of the images
    #[arg(long, value_name = "DIR")]
    data: PathBuf,
    #[command(flatten)]
    reading: ReadingArgs,
    #[command(flatten)]
    network: NetworkArgs,
    #[command(flatten)]
    nominal: NominalArgs,
    #[command(flatten)]
    outliers: OutlierArgs,
    /// Methods (see `list pixel-methods`)
    #[arg(long, value_delimiter = ',', required = true, value_name = "ID,…")]
    method: Vec<String>,
    /// Parameters of methods by id, such as '{"outlier-head": {"hidden": 128}}'
    #[arg(long, default_value = "{}", value_name = "JSON", value_parser = params)]
    params: MethodParams,
    /// Temperature of odin
    #[arg(long, default_value_t = Request::default().temperature, value_name = "T", value_parser = temperature)]
    temperature: f64,
}

/// Parameters of methods.
pub fn params(text: &str) -> Result<MethodParams, String> {
    let expected = r#"expected parameters by method, such as {"outlier-head": {"hidden": 128}}"#;
    serde_json::from_str(text).map_err(|e| format!("{expected}: {e}"))
}

/// A temperature above 0.
pub fn temperature(text: &str) -> Result<f64, String> {
    let value: f64 = text.parse().map_err(|_| format!("expected a number, found {text:?}"))?;
    if value > 0.0 && value.is_finite() {
        Ok(value)
    } else {
        Err(format!("expected a temperature above 0, found {value}"))
    }
}

impl Score {
    /// Writes METHOD/NAME.npy, larger is more unknown.
    ///
    /// # Errors
    /// If something that a method needs is missing, or a file cannot be written.
    pub fn run(self, common: &Common) -> Result<Outcome> {
        let request = Request {
            data: self.data,
            reading: self.reading.request(),
            network: self.network.request(),
            nominal: self.nominal.request(),
            outliers: self.outliers.request(),
            methods: self.method,
            params: self.params,
            temperature: self.temperature,
            out: common.out_or("pixels"),
        };
        print(&run(&request, &common.context())?, common, |found| {
            format!("{}: {} images, {} methods", found.folder.display(), found.images, found.methods.len())
        })
    }
}
