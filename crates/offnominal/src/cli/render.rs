//! `render`: images, class masks and a video of one episode.

use crate::cli::anomaly_request::AnomalyArgs;
use crate::cli::one_of::one_of;
use crate::cli::{Common, Outcome};
use anyhow::Result;
use clap::Args;
use offnominal_engine::render::{self, Request, Stills, run};

/// Arguments of `render`.
#[derive(Debug, Args)]
pub struct Render {
    /// Environment id (see `list envs`)
    #[arg(long)]
    env: String,
    /// `tqc` for the one shipped with the environment, a name of `list policies`, the file of a policy of this program or
    /// another library, `module:name` of Python, `command:COMMAND`, or `random`
    #[arg(long)]
    policy: String,
    /// Width and height of the images in pixels
    #[arg(long, default_value_t = render::size(), value_parser = clap::value_parser!(u16).range(8..=1024))]
    size: u16,
    /// Name of the camera [default: the environment's first]
    #[arg(long, value_name = "NAME")]
    camera: Option<String>,
    /// Which states of the episode become PNG files
    #[arg(long, value_parser = one_of::<Stills>(), default_value = "few")]
    frames: Stills,
    /// Also write the class mask of each PNG; its pixel values are the class ids
    #[arg(long)]
    classes: bool,
    // Last, for the heading of its options would hold for those behind it.
    #[command(flatten)]
    anomaly: AnomalyArgs,
}

impl Render {
    /// Plays the episode, and again for the images.
    ///
    /// # Errors
    /// If environment, policy, anomaly or camera cannot be had, or a file cannot be written.
    pub fn run(self, common: &Common) -> Result<Outcome> {
        let Render { env, policy, size, camera, frames, classes, anomaly } = self;
        let env = common.environment(&env)?;
        let (anomaly, out) = (anomaly.request(), common.out_or("render"));
        let request = Request { env, policy, size, camera, frames, classes, anomaly, out };
        common.print(&run(&request, &common.context())?)
    }
}
