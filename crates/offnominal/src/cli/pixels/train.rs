//! `pixels train`: trains the baseline.

use super::inputs::Reading;
use super::{Common, Outcome};
use crate::pixels::network::Network;
use crate::pixels::train::{Recipe, judge, train};
use crate::write;
use anyhow::Result;
use clap::Args;
use offnominal_core::Seed;
use serde_json::json;
use std::io::Write;
use std::path::PathBuf;

/// Arguments of `pixels train`.
#[derive(Debug, Args)]
pub struct Train {
    /// Labelled pictures to learn from
    #[arg(long, value_name = "DIR")]
    data: PathBuf,
    /// Pictures on which the result is judged; the training never sees them
    #[arg(long, value_name = "DIR")]
    validation: Option<PathBuf>,
    #[command(flatten)]
    reading: Reading,
    /// Pixels of each class that are drawn from a picture
    #[arg(long, default_value_t = 80, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pixels: u32,
    /// How often each is seen
    #[arg(long, default_value_t = 12, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    rounds: u32,
}

impl Train {
    /// Trains, writes the model, and prints how well it segments.
    ///
    /// # Errors
    /// If the data cannot be read or the model cannot be written.
    pub fn run(&self, common: &Common) -> Result<Outcome> {
        let (set, seed) = (self.reading.open(&self.data)?, Seed(common.seed));
        let validation = self.validation.as_ref().map(|root| self.reading.open(root)).transpose()?;
        let recipe = Recipe { pixels: self.pixels as usize, rounds: self.rounds as usize, seed };
        let model = train(&set, &recipe, common)?;
        let path = common.out_or("pixels").join("model.safetensors");
        write::atomically(&path, &model.to_tensors().to_bytes())?;
        let network = Network::Baseline { model: Box::new(model), passes: 1, seed };
        let judged = validation.map(|set| judge(&network, &set, common)).transpose()?;
        let mut out = std::io::stdout().lock();
        let classes = &set.meanings.map.classes;
        if common.json {
            let (ious, mean) = judged.unzip();
            writeln!(
                out,
                "{:#}",
                json!({ "model": path, "classes": classes, "iou": ious, "mean_iou": mean })
            )?;
            return Ok(Outcome::Done);
        }
        if let Some((ious, mean)) = judged {
            for (class, iou) in classes.iter().zip(ious) {
                writeln!(out, "  {class:<16}{}", iou.map_or("–".into(), |iou| format!("{iou:.3}")))?;
            }
            writeln!(out, "mean IoU {mean:.3}")?;
        }
        writeln!(out, "{}", path.display())?;
        Ok(Outcome::Done)
    }
}
