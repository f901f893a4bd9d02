//! `pixels predict`: a model's logits, features and confidences as files.

use crate::cli::Common;
use crate::cli::pixels::Outcome;
use crate::cli::pixels::inputs::{NetworkArgs, Reading};
use anyhow::{Result, ensure};
use clap::Args;
use offnominal_engine::parallel;
use offnominal_files::array::to_npy;
use offnominal_files::write;
use serde_json::json;
use std::io::Write;
use std::path::PathBuf;

/// Arguments of `pixels predict`.
#[derive(Debug, Args)]
pub struct Predict {
    /// The pictures
    #[arg(long, value_name = "DIR")]
    data: PathBuf,
    #[command(flatten)]
    reading: Reading,
    #[command(flatten)]
    network: NetworkArgs,
}

impl Predict {
    /// Writes logits/NAME.npy, features/NAME.npy, and confidence/NAME.npy if the model has them.
    ///
    /// # Errors
    /// If there is no model, a picture cannot be read, or a file cannot be written.
    pub fn run(&self, common: &Common) -> Result<Outcome> {
        ensure!(
            self.network.is_model(),
            "expected --model FILE: logits that are files already need no prediction"
        );
        let (set, network) = (self.reading.open(&self.data)?, self.network.open(1, common)?.remove(0));
        let out = common.out_or("pixels");
        let bar = common.context().task(set.samples.len(), "pictures");
        parallel::map(common.jobs, set.samples.len(), &bar, |i| {
            let sample = &set.samples[i];
            let labels = set.labels(sample)?;
            let said = network.say(&set, sample, &labels)?;
            let o = said.output();
            let one = [o.classes, o.height, o.width];
            let many = [o.passes, o.classes, o.height, o.width];
            let logits = to_npy(if o.passes == 1 { &one } else { &many }, o.logits);
            write::atomically(&out.join("logits").join(format!("{}.npy", sample.name)), &logits)?;
            if let Some(f) = o.features {
                let features = to_npy(&[f.channels, f.rows, f.columns], f.values);
                write::atomically(&out.join("features").join(format!("{}.npy", sample.name)), &features)?;
            }
            if let Some(c) = o.confidence {
                let confidence = to_npy(&[o.height, o.width], c);
                write::atomically(&out.join("confidence").join(format!("{}.npy", sample.name)), &confidence)?;
            }
            anyhow::Ok(())
        })?;
        let (mut said, n) = (std::io::stdout().lock(), set.samples.len());
        if common.json {
            writeln!(said, "{:#}", json!({ "folder": out, "pictures": n }))?;
        } else {
            writeln!(said, "{}: {} pictures", out.display(), n)?;
        }
        Ok(Outcome::Done)
    }
}
