//! `rollouts fit`: a failure probe as a file.

use crate::cli::{Common, Outcome};
use anyhow::Result;
use clap::Args;
use offnominal_rollouts::detector::Detector;
use offnominal_rollouts::probe::fit::{Request, run};
use std::path::PathBuf;

/// Arguments of `rollouts fit`.
#[derive(Debug, Args)]
pub struct Fit {
    /// Rollouts as JSON lines or Parquet, or folders of them
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// The detector, as `judge` has them
    #[arg(long, value_name = "D", value_parser = super::judge::detector, allow_hyphen_values = true, default_value = "hazard")]
    detector: Detector,
    /// Actions of each chunk that are executed before the next one, where the files do not say it; a step that is watched needs
    /// not say it either then
    #[arg(long, value_name = "N")]
    executed: Option<usize>,
    /// Embeddings of the tasks' instructions: a .npy file that holds a dictionary of arrays by task
    #[arg(long, value_name = "FILE")]
    task_embeddings: Option<PathBuf>,
    /// Share of a task's successes that may have an alarm, on average
    #[arg(long, value_name = "P", default_value_t = Request::default().alpha, value_parser = crate::cli::common::share)]
    alpha: f64,
    /// Share of the rollouts of each task and outcome that sets thresholds, and is not learned from
    #[arg(long, value_name = "P", default_value_t = Request::default().held_out)]
    held_out: f64,
}

impl Fit {
    /// Fits, calibrates, writes probe.safetensors and says what it holds.
    ///
    /// # Errors
    /// If a file cannot be read or written, or there is too little to learn from or to set thresholds.
    pub fn run(self, common: &Common) -> Result<Outcome> {
        let request = self.request(common);
        common.print(&run(&request, &common.context())?)
    }

    fn request(self, common: &Common) -> Request {
        Request {
            files: self.files,
            executed: self.executed,
            detector: self.detector,
            instructions: self.task_embeddings,
            alpha: self.alpha,
            held_out: self.held_out,
            out: Some(common.out_or("rollouts")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        fit: Fit,
        #[command(flatten)]
        common: Common,
    }

    #[test]
    fn defaults_are_those_of_the_library() {
        let Line { fit, common } = Line::parse_from(["fit", "a.jsonl"]);
        let (files, out) = (vec!["a.jsonl".into()], Some("runs/rollouts".into()));
        assert_eq!(fit.request(&common), Request { files, out, ..Request::default() });
    }
}
