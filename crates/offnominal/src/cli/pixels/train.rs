//! `pixels train`: trains a network and says how well it segments.

use crate::cli::Common;
use crate::cli::one_of::one_of;
use crate::cli::pixels::Outcome;
use crate::cli::pixels::inputs::Reading;
use anyhow::{Result, ensure};
use clap::Args;
use offnominal_core::Seed;
use offnominal_engine::device::Device;
use offnominal_files::write;
use offnominal_pixels::choice::{Choice, Kind, Modification, Preset};
use offnominal_pixels::deep;
use offnominal_pixels::layout::DataSet;
use offnominal_pixels::network::Network;
use offnominal_pixels::train::{Recipe, judge, train};
use serde_json::{Value, json};
use std::io::Write;
use std::path::{Path, PathBuf};

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
    /// Which network
    #[arg(long, value_parser = one_of::<Kind>(), default_value = "patches")]
    network: Kind,
    #[command(flatten)]
    convolutional: Convolutional,
    #[command(flatten)]
    baseline: Baseline,
}

/// What PSPNet and DeepLabV3+ can be told.
#[derive(Debug, Clone, Copy, Args)]
#[command(next_help_heading = "PSPNet and DeepLabV3+")]
struct Convolutional {
    /// How large it is
    #[arg(long, value_parser = one_of::<Preset>(), default_value = "small")]
    preset: Preset,
    /// What is changed so that a method can be used
    #[arg(long, value_parser = one_of::<Modification>(), default_value = "none")]
    modification: Modification,
    /// Steps of the training [default: the preset's]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    steps: Option<u32>,
    /// Pictures in a step [default: the preset's]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    batch: Option<u32>,
    /// First learning rate [default: the preset's]
    #[arg(long, value_name = "RATE", value_parser = rate)]
    rate: Option<f64>,
    /// Where it is trained
    #[arg(long, value_parser = one_of::<Device>(), default_value = "cpu")]
    device: Device,
}

/// What the baseline can be told.
#[derive(Debug, Clone, Copy, Args)]
#[command(next_help_heading = "Baseline")]
struct Baseline {
    /// Pixels of each class that are drawn from a picture
    #[arg(long, default_value_t = 80, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pixels: u32,
    /// How often each is seen
    #[arg(long, default_value_t = 12, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    rounds: u32,
}

fn rate(text: &str) -> Result<f64, String> {
    let value: f64 = text.parse().map_err(|_| format!("expected a number, found {text:?}"))?;
    if value > 0.0 && value <= 1.0 {
        Ok(value)
    } else {
        Err(format!("expected a rate up to 1, found {value}"))
    }
}

impl Train {
    /// Trains, writes the model and its card, and prints how well it segments.
    ///
    /// # Errors
    /// If the data cannot be read or the model cannot be written.
    pub fn run(&self, common: &Common) -> Result<Outcome> {
        let set = self.reading.open(&self.data)?;
        let validation = self.validation.as_ref().map(|root| self.reading.open(root)).transpose()?;
        let out = common.out_or("pixels");
        let path = out.join("model.safetensors");
        let (network, recipe) = match self.network {
            Kind::Patches => self.patches(&set, &path, common)?,
            _ => self.convolutional(&set, &path, common)?,
        };
        let judged = validation.map(|set| judge(&network, &set, &common.context())).transpose()?;
        let (ious, mean) = judged.unzip();
        let classes = &set.meanings.map.classes;
        let command = std::env::args().skip(1).fold("offnominal".to_string(), |line, arg| line + " " + &arg);
        let mut card = json!({
            "model": path, "network": self.network, "classes": classes, "iou": ious, "mean_iou": mean,
            "command": command,
        });
        if recipe != Value::Null {
            card["recipe"] = recipe;
        }
        write::atomically(&out.join("model.json"), format!("{card:#}\n").as_bytes())?;
        let mut said = std::io::stdout().lock();
        if common.json {
            writeln!(said, "{card:#}")?;
            return Ok(Outcome::Done);
        }
        for (class, iou) in classes.iter().zip(ious.iter().flatten()) {
            writeln!(said, "  {class:<16}{}", iou.map_or("–".into(), |iou| format!("{iou:.3}")))?;
        }
        if let Some(mean) = mean {
            writeln!(said, "mean IoU {mean:.3}")?;
        }
        writeln!(said, "{}", path.display())?;
        Ok(Outcome::Done)
    }

    fn patches(&self, set: &DataSet, path: &Path, common: &Common) -> Result<(Network, Value)> {
        let (seed, Baseline { pixels, rounds }) = (Seed(common.seed), self.baseline);
        ensure!(
            self.convolutional.modification == Modification::None,
            "the baseline has no modifications: name --network pspnet or deeplab"
        );
        let recipe = Recipe { pixels: pixels as usize, rounds: rounds as usize, seed };
        let model = train(set, &recipe, &common.context())?;
        write::atomically(path, &model.to_tensors().to_bytes())?;
        Ok((Network::Baseline { model: Box::new(model), passes: 1, seed }, Value::Null))
    }

    fn convolutional(&self, set: &DataSet, path: &Path, common: &Common) -> Result<(Network, Value)> {
        let Convolutional { preset, modification, steps, batch, rate, device } = self.convolutional;
        let choice = Choice { network: self.network, preset, modification, device, steps, batch, rate };
        let (seed, folder) = (Seed(common.seed), path.with_file_name(""));
        let net = deep::train(set, &choice, seed, &folder, &common.context())?;
        write::atomically(path, &net.to_tensors().to_half_bytes())?;
        deep::forget(&folder)?;
        let recipe = net.recipe();
        Ok((Network::Convolutional { net, passes: 1, seed }, recipe))
    }
}
