//! `sheet`: one picture of many frames with their names.

use crate::cli::one_of::one_of;
use crate::cli::{Common, Outcome};
use anyhow::Result;
use clap::Args;
use offnominal_engine::sheet::{Request, View, run};
use std::path::PathBuf;

/// Arguments of `sheet`.
#[derive(Debug, Args)]
pub struct Sheet {
    /// Environment ids (see `list envs`), one frame for each
    #[arg(long, value_name = "ENV,…", value_delimiter = ',', required = true)]
    env: Vec<String>,
    /// The policy that acts in each, as for `render`
    #[arg(long, default_value = "random")]
    policy: String,
    /// What is shown of a state
    #[arg(long, value_parser = one_of::<View>(), default_value = "camera")]
    view: View,
    /// Name of the camera [default: the environment's first]
    #[arg(long, value_name = "NAME")]
    camera: Option<String>,
    /// Anomalies (see `list anomalies --env`) or patterns such as cam-*, shown beside the nominal frame; each begins with
    /// the first step
    #[arg(long, value_name = "A,…", value_delimiter = ',')]
    anomaly: Vec<String>,
    /// How strong, in the anomaly's own unit; several make a row for each anomaly
    #[arg(
        long,
        value_name = "M,…",
        value_delimiter = ',',
        requires = "anomaly",
        conflicts_with = "strength",
        allow_negative_numbers = true
    )]
    magnitude: Vec<f64>,
    /// How strong, as calibrated levels: tiny, medium, strong or extreme; several make a row for each anomaly
    #[arg(long, value_name = "S,…", value_delimiter = ',', requires = "anomaly")]
    strength: Vec<String>,
    /// The state that is shown; 0 is the first, before any step
    #[arg(long, default_value_t = 10)]
    step: u32,
    /// Width and height of a camera's frame in pixels
    #[arg(long, default_value_t = 128, value_parser = clap::value_parser!(u16).range(8..=1024))]
    size: u16,
    /// Frames in a row [default: 5, or as many as a row for each anomaly needs]
    #[arg(long, value_name = "N")]
    columns: Option<usize>,
    /// The PNG file
    #[arg(long, default_value = "runs/sheet.png")]
    file: PathBuf,
}

impl Sheet {
    /// Plays an episode for each frame and draws them all.
    ///
    /// # Errors
    /// If something cannot be had or shown, or the file cannot be written.
    pub fn run(self, common: &Common) -> Result<Outcome> {
        let Sheet { env, policy, view, camera, anomaly, magnitude, strength, step, size, columns, file } =
            self;
        let request = Request {
            envs: env,
            policy,
            view,
            camera,
            anomalies: anomaly,
            magnitudes: magnitude,
            strengths: strength,
            step,
            size,
            columns,
            file,
        };
        common.print(&run(&request, &common.context())?)
    }
}
