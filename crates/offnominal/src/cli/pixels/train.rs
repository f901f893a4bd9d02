//! `pixels train`: trains a network and judges how well it segments.

use crate::cli::Common;
use crate::cli::one_of::one_of;
use crate::cli::pixels::inputs::ReadingArgs;
use crate::cli::pixels::{Outcome, command, print};
use anyhow::Result;
use clap::Args;
use offnominal_engine::device::Device;
use offnominal_pixels::choice::{Modification, NetworkKind, NetworkPreset};
use offnominal_pixels::train::{ModelCard, Request, run};
use std::path::PathBuf;

/// Arguments of `pixels train`.
#[derive(Debug, Args)]
pub struct Train {
    /// Labelled images to learn from
    #[arg(long, value_name = "DIR")]
    data: PathBuf,
    /// Images on which the result is judged; the training never sees them
    #[arg(long, value_name = "DIR")]
    validation: Option<PathBuf>,
    #[command(flatten)]
    reading: ReadingArgs,
    /// Which network
    #[arg(long, value_parser = one_of::<NetworkKind>(), default_value = "patches")]
    network: NetworkKind,
    #[command(flatten)]
    convolutional: Convolutional,
    #[command(flatten)]
    baseline: Baseline,
}

/// Options of PSPNet and DeepLabV3+.
#[derive(Debug, Clone, Copy, Args)]
#[command(next_help_heading = "PSPNet and DeepLabV3+")]
struct Convolutional {
    /// How large it is
    #[arg(long, value_parser = one_of::<NetworkPreset>(), default_value = "small")]
    preset: NetworkPreset,
    /// What is changed so that a method can be used
    #[arg(long, value_parser = one_of::<Modification>(), default_value = "none")]
    modification: Modification,
    /// Pixels of the image that a place of the coarsest map of a small network stands for, in rows and in columns: 4 finds
    /// things of few pixels, for about four times the work [default: 8]
    #[arg(long, value_name = "4|8", value_parser = output_stride)]
    output_stride: Option<u8>,
    /// Steps of the training [default: the preset's]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    steps: Option<u32>,
    /// Images in a step [default: the preset's]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    batch: Option<u32>,
    /// First learning rate [default: the preset's]
    #[arg(long, value_name = "RATE", value_parser = rate)]
    rate: Option<f64>,
    /// Where it is trained
    #[arg(long, value_parser = one_of::<Device>(), default_value = "cpu")]
    device: Device,
}

/// Options of the baseline.
#[derive(Debug, Clone, Copy, Args)]
#[command(next_help_heading = "Baseline")]
struct Baseline {
    /// Pixels of each class that are drawn from an image
    #[arg(long, default_value_t = Request::default().pixels, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pixels: u32,
    /// How often each is seen
    #[arg(long, default_value_t = Request::default().rounds, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    rounds: u32,
}

pub(super) fn output_stride(text: &str) -> Result<u8, String> {
    match text {
        "4" => Ok(4),
        "8" => Ok(8),
        _ => Err(format!("expected 4 or 8, found {text:?}")),
    }
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
    pub fn run(self, common: &Common) -> Result<Outcome> {
        let Convolutional { preset, modification, output_stride, steps, batch, rate, device } =
            self.convolutional;
        let request = Request {
            data: self.data,
            validation: self.validation,
            reading: self.reading.request(),
            network: self.network,
            preset,
            modification,
            output_stride,
            steps,
            batch,
            rate,
            device,
            pixels: self.baseline.pixels,
            rounds: self.baseline.rounds,
            out: common.out_or("pixels"),
            command: command(),
        };
        print(&run(&request, &common.context())?, common, as_text)
    }
}

fn as_text(card: &ModelCard) -> String {
    let mut text = String::new();
    for (class, iou) in card.classes.iter().zip(card.iou.iter().flatten()) {
        text += &format!("  {class:<16}{}\n", iou.map_or("–".into(), |iou| format!("{iou:.3}")));
    }
    if let Some(mean) = &card.mean_iou {
        text += &format!("mean IoU {mean:.3}\n");
    }
    text + &card.model.display().to_string()
}
