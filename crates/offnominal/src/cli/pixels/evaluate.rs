//! `pixels evaluate`: judges methods and writes the page.

use crate::cli::Common;
use crate::cli::one_of::one_of;
use crate::cli::pixels::inputs::{NetworkArgs, NominalArgs, OutlierArgs, ReadingArgs};
use crate::cli::pixels::score::{params, temperature};
use crate::cli::pixels::{Outcome, command, print};
use anyhow::Result;
use clap::Args;
use offnominal_pixels::evaluate::{ComponentSizes, Request, run};
use offnominal_pixels::fit::MethodParams;
use offnominal_pixels::report::as_text;
use offnominal_pixels::results::Report;
use std::path::PathBuf;

/// Arguments of `pixels evaluate`.
#[derive(Debug, Args)]
pub struct Evaluate {
    /// Data sets, each judged by itself
    #[arg(long, required = true, value_name = "DIR")]
    data: Vec<PathBuf>,
    /// Judge all data sets together, as one
    #[arg(long)]
    pooled: bool,
    #[command(flatten)]
    reading: ReadingArgs,
    #[command(flatten)]
    network: NetworkArgs,
    #[command(flatten)]
    nominal: NominalArgs,
    #[command(flatten)]
    outliers: OutlierArgs,
    /// Folder of score maps NAME.npy, [H, W], larger is more unknown, or of folders METHOD/NAME.npy as `pixels score` writes
    /// them; one for each --data
    #[arg(long, value_name = "DIR", help_heading = "Network")]
    scores: Vec<PathBuf>,
    /// Methods (see `list pixel-methods`), sums of such (a+b), or all that can be had
    #[arg(long, value_delimiter = ',', default_value = "all", value_name = "ID,…")]
    methods: Vec<String>,
    /// Parameters of methods by id, such as '{"outlier-head": {"hidden": 128}}'
    #[arg(long, default_value = "{}", value_name = "JSON", value_parser = params)]
    params: MethodParams,
    /// Temperature of odin [default: the best of ten on a quarter of the images, which are then not judged]
    #[arg(long, value_name = "T", value_parser = temperature)]
    temperature: Option<f64>,
    /// Smallest components that count
    #[arg(long, value_parser = one_of::<ComponentSizes>(), default_value = "scaled")]
    component_sizes: ComponentSizes,
    /// Bootstrap replicates of each interval, 100 to 100000
    #[arg(long, default_value_t = Request::default().replicates, value_name = "N", value_parser = clap::value_parser!(u32).range(100..=100_000))]
    replicates: u32,
}

impl Evaluate {
    /// Judges what is not finished, prints a table, writes pixels.csv, pixels.json and pixels.html.
    ///
    /// # Errors
    /// If something cannot be read, or a data set has no unknown or no known pixels.
    pub fn run(self, common: &Common) -> Result<Outcome> {
        let request = Request {
            data: self.data,
            pooled: self.pooled,
            reading: self.reading.request(),
            network: self.network.request(),
            nominal: self.nominal.request(),
            outliers: self.outliers.request(),
            scores: self.scores,
            methods: self.methods,
            params: self.params,
            temperature: self.temperature,
            component_sizes: self.component_sizes,
            replicates: self.replicates,
            out: common.out_or("pixels"),
            command: command(),
        };
        print(&run(&request, &common.context())?, common, in_words)
    }
}

fn in_words(report: &Report) -> String {
    let tables = report.evaluations.iter().map(|evaluation| as_text(evaluation) + "\n\n");
    tables.collect::<String>() + &report.page.display().to_string()
}
