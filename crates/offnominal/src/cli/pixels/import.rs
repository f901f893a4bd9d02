//! `pixels import`: takes over weights that were trained elsewhere.

use crate::cli::Common;
use crate::cli::one_of::one_of;
use crate::cli::pixels::inputs::ReadingArgs;
use crate::cli::pixels::train::output_stride;
use crate::cli::pixels::{Outcome, command, print};
use anyhow::Result;
use clap::Args;
use offnominal_pixels::choice::{Modification, NetworkKind, NetworkPreset};
use offnominal_pixels::import::{Imported, Request, run};
use std::path::PathBuf;

/// Arguments of `pixels import`.
#[derive(Debug, Args)]
pub struct Import {
    /// Weights, saved with safetensors.torch.save_file(model.state_dict(), FILE)
    #[arg(value_name = "FILE.safetensors")]
    weights: PathBuf,
    /// Which network of `pixels train` they are of, with the names of its tensors [default: torchvision's
    /// deeplabv3_resnet50]
    #[arg(long, value_parser = one_of::<NetworkKind>())]
    network: Option<NetworkKind>,
    /// How large it is
    #[arg(long, value_parser = one_of::<NetworkPreset>(), default_value = "small", requires = "network")]
    preset: NetworkPreset,
    /// What is changed in it so that a method can be used
    #[arg(long, value_parser = one_of::<Modification>(), default_value = "none", requires = "network")]
    modification: Modification,
    /// Pixels of the image that a place of the coarsest map of a small network stands for [default: 8]
    #[arg(long, value_name = "4|8", value_parser = output_stride, requires = "network")]
    output_stride: Option<u8>,
    /// Labelled images on which it is judged, and whose classes it knows if there is no --map
    #[arg(long, value_name = "DIR")]
    validation: Option<PathBuf>,
    #[command(flatten)]
    reading: ReadingArgs,
}

impl Import {
    /// Writes the model.
    ///
    /// # Errors
    /// If a file cannot be read, or holds another network or other classes.
    pub fn run(self, common: &Common) -> Result<Outcome> {
        let request = Request {
            weights: self.weights,
            network: self.network,
            preset: self.preset,
            modification: self.modification,
            output_stride: self.output_stride,
            validation: self.validation,
            reading: self.reading.request(),
            out: common.out_or("pixels"),
            command: command(),
        };
        print(&run(&request, &common.context())?, common, as_text)
    }
}

fn as_text(found: &Imported) -> String {
    let mean = found.mean_iou.as_ref().map_or(String::new(), |mean| format!("mean IoU {mean:.3}\n"));
    mean + &found.model.display().to_string()
}
