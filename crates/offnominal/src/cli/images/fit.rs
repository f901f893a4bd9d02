//! `images fit`: a network that predicts the next image, fitted on nominal episodes, as one file.

use crate::cli::one_of::one_of;
use crate::cli::{Common, Outcome};
use anyhow::Result;
use clap::Args;
use offnominal_bench::images::fit::{self, Request, run};
use offnominal_engine::detector_choice::DetectorChoice;
use offnominal_engine::device::Device;
use std::path::PathBuf;
use std::str::FromStr;

/// Arguments of `images fit`.
#[derive(Debug, Args)]
pub struct Fit {
    /// Environment id (see `list envs`), one with a camera
    #[arg(long)]
    env: String,
    /// `tqc` for the one shipped with the environment, a name of `list policies`, or the file of a policy of this program
    /// or another library
    #[arg(long, default_value_t = fit::policy())]
    policy: String,
    /// pred-ae, prednet, ldm, lrdm or rssm-ppm, or a table such as `{ id = "lrdm", preset = "paper" }`; the preset is
    /// `small` (64 × 64, minutes on two cores) if none is named
    #[arg(long, value_parser = DetectorChoice::from_str)]
    detector: DetectorChoice,
    /// Where it is fitted
    #[arg(long, value_parser = one_of::<Device>(), default_value = "cpu")]
    device: Device,
    /// Nominal episodes that it learns from
    #[arg(long, value_name = "N", default_value_t = fit::train(), value_parser = clap::value_parser!(u32).range(1..=10_000))]
    train: u32,
    /// Other nominal episodes, by which it is seen when to stop
    #[arg(long, value_name = "N", default_value_t = fit::validation(), value_parser = clap::value_parser!(u32).range(1..=10_000))]
    validation: u32,
    /// Width and height of the camera's images
    #[arg(long, value_name = "PIXELS", default_value_t = fit::images(), value_parser = clap::value_parser!(u32).range(16..=1024))]
    images: u32,
    /// The file to write
    #[arg(long, value_name = "FILE.safetensors")]
    file: PathBuf,
}

impl Fit {
    /// Plays the episodes before the camera, fits, writes the file and describes it.
    ///
    /// # Errors
    /// If the environment, the policy, the detector or the device cannot be had, memory does not suffice, or the file
    /// cannot be written.
    pub fn run(self, common: &Common) -> Result<Outcome> {
        let Fit { env, policy, detector, device, train, validation, images, file } = self;
        let request = Request { env, policy, detector, device, train, validation, images, file };
        common.print(&run(&request, &common.context())?)
    }
}
