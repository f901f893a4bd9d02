//! `rollouts judge`: failure detectors, once the clock is taken out.

use crate::cli::{Common, Outcome};
use anyhow::Result;
use clap::Args;
use offnominal_rollouts::detector::Detector;
use offnominal_rollouts::judge::{Request, as_text, run};
use offnominal_rollouts::split::Split;
use std::path::PathBuf;

/// Arguments of `rollouts judge`.
#[derive(Debug, Args)]
pub struct Judge {
    /// Rollouts as JSON lines or Parquet, or folders of them
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// A detector; may be given several times: SIGNAL, max(SIGNAL), mean(SIGNAL), sum(SIGNAL), ewma(SIGNAL), -DETECTOR, actprobe,
    /// hazard, hazard(SIGNAL,...), odds(DETECTOR,...)
    /// [default: each signal and its mean so far]
    #[arg(long = "detector", value_name = "D", value_parser = detector, allow_hyphen_values = true)]
    detectors: Vec<Detector>,
    /// The detector from which the others are told apart, by a difference with its interval
    #[arg(long, value_name = "D", value_parser = detector, allow_hyphen_values = true)]
    versus: Option<Detector>,
    /// What is learned from and what is judged; may be given several times: folds:N, tasks:N, or the published splits
    /// seen:SEEDS and unseen:SEEDS [default: all rollouts are judged, and nothing is learned]
    #[arg(long = "split", value_name = "S", value_parser = split)]
    splits: Vec<Split>,
    /// Actions of each chunk that are executed before the next one, where the files do not say it
    #[arg(long, value_name = "N")]
    executed: Option<usize>,
    /// Embeddings of the tasks' instructions: a .npy file that holds a dictionary of arrays by task
    #[arg(long, value_name = "FILE")]
    task_embeddings: Option<PathBuf>,
    /// The first step that is compared
    #[arg(long, value_name = "N", default_value_t = Request::default().from_step)]
    from_step: usize,
    /// Share of successful rollouts that may have an alarm
    #[arg(long, value_name = "P", default_value_t = Request::default().alpha, value_parser = crate::cli::common::share)]
    alpha: f64,
    /// Bootstrap replicates of each interval, 100 to 100000
    #[arg(long, value_name = "N", default_value_t = Request::default().replicates)]
    replicates: usize,
}

/// A detector by its name.
fn detector(text: &str) -> Result<Detector, String> {
    text.parse().map_err(|e: anyhow::Error| format!("{e:#}"))
}

fn split(text: &str) -> Result<Split, String> {
    text.parse().map_err(|e: anyhow::Error| format!("{e:#}"))
}

impl Judge {
    /// Judges, writes rollouts.json, rollouts.csv and rollouts.html, and prints the table.
    ///
    /// # Errors
    /// If a file cannot be read or written, or there is too little to learn from or to judge.
    pub fn run(self, common: &Common) -> Result<Outcome> {
        let found = run(&self.request(common), &common.context())?;
        let page = || found.page.as_ref().map_or(String::new(), |page| page.display().to_string());
        let words = || format!("{}\n{}", as_text(&found), page());
        common.print_text(if common.json { Common::as_json(&found)? } else { words() })
    }

    fn request(self, common: &Common) -> Request {
        Request {
            files: self.files,
            executed: self.executed,
            detectors: self.detectors,
            versus: self.versus,
            splits: self.splits,
            instructions: self.task_embeddings,
            from_step: self.from_step,
            alpha: self.alpha,
            replicates: self.replicates,
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
        judge: Judge,
        #[command(flatten)]
        common: Common,
    }

    #[test]
    fn defaults_are_those_of_the_library_and_a_negative_is_no_option() {
        let Line { judge, common } = Line::parse_from(["judge", "a.jsonl"]);
        let (files, out) = (vec!["a.jsonl".into()], Some("runs/rollouts".into()));
        assert_eq!(judge.request(&common), Request { files, out, ..Request::default() });
        let Line { judge, .. } = Line::parse_from(["judge", "a.jsonl", "--detector", "-mean(acm)"]);
        assert_eq!(judge.detectors[0].to_string(), "-mean(acm)");
    }
}
