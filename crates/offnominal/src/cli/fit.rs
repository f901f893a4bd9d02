//! `fit`: a detector, fitted and calibrated on nominal episodes or recordings, as one file.

use crate::cli::{Common, Outcome};
use anyhow::{Context as _, Result};
use clap::Args;
use offnominal_core::alarm::Settings;
use offnominal_engine::collect;
use offnominal_engine::detector_choice::DetectorChoice;
use offnominal_engine::fit;
use offnominal_engine::recalibrate;
use offnominal_engine::rule_choice::Span;
use offnominal_logs::{fit as logs, recalibrate as of_logs};
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::str::FromStr;

/// Arguments of `fit`.
#[derive(Debug, Args)]
pub struct Fit {
    /// Logs of nominal recordings (see `inspect` for their formats), instead of an environment and a policy
    #[arg(value_name = "LOGS", conflicts_with_all = ["env", "policy", "data"])]
    logs: Vec<PathBuf>,
    /// Which column of the logs is what; without it, what `inspect` proposes
    #[arg(long, value_name = "MAP.toml", requires = "logs")]
    map: Option<PathBuf>,
    /// Environment id (see `list envs`), with `?noise=LEVEL` for nominal noise, or `gymnasium:ID` for any environment of
    /// Gymnasium
    #[arg(long, required_unless_present_any = ["logs", "recalibrate"])]
    env: Option<String>,
    /// `tqc` for the one shipped with the environment, a name of `list policies`, the file of a policy of this program or
    /// another library, `module:name` of Python, `command:COMMAND`, or `random`
    #[arg(long, required_unless_present_any = ["logs", "recalibrate"])]
    policy: Option<String>,
    /// Detector id (see `list detectors`; `default` is `residual-views`), or a table such as `{ id = "knn", k = 3 }`
    #[arg(long, default_value = "default", value_parser = DetectorChoice::from_str)]
    detector: DetectorChoice,
    /// Nominal episodes written by `collect`, instead of new ones
    #[arg(long, value_name = "FILE.arrow")]
    data: Option<PathBuf>,
    /// Episodes that the detector learns from [default: 100; of files, those that are not for calibration]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(collect::MAX_EPISODES)))]
    train: Option<u32>,
    /// Episodes that set the threshold, which the detector does not see [default: 100; of files, the last half; of logs, more if the rule needs it]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(collect::MAX_EPISODES)))]
    calibration: Option<u32>,
    /// How the threshold is set: 3sigma, q95, max, conformal, band, cusum, martingale or run-length
    #[arg(long, default_value_t = fit::rule())]
    rule: String,
    /// Accepted share of nominal episodes with an alarm, for the rules that promise one
    #[arg(long, default_value_t = fit::alpha(), value_name = "SHARE", value_parser = crate::cli::common::share)]
    alpha: f64,
    /// Promise that share with this confidence, in the calibration set at hand, and not on average over calibration sets; it needs
    /// more episodes: 59 in place of 19 for an alpha of 0.05 and a confidence of 0.95
    #[arg(long, value_name = "SHARE")]
    confidence: Option<f64>,
    /// For the rule run-length, which is for streams without episodes: how far apart false alarms are at least, on average: a number of steps,
    /// or a time such as 30m, 10h or 7d
    #[arg(long, value_name = "LENGTH")]
    run_length: Option<Span>,
    /// For the same rule: steps of a block [default: five times as long as scores depend on one another]
    #[arg(long, value_name = "STEPS")]
    block: Option<u32>,
    /// Monitors that share the promise, such as those of a fleet: each gets its part, so that all together keep it
    #[arg(long, default_value = "1", value_name = "N")]
    monitors: NonZeroU32,
    /// Give each task that the mapping tells apart a threshold of its own, set by its own recordings; tasks with too few of them
    /// share one
    #[arg(long, requires = "logs")]
    by_task: bool,
    /// Steps at the beginning of an episode in which no alarm is raised
    #[arg(long, default_value_t = 0, value_name = "STEPS")]
    arm_after: u32,
    /// Exceedances in a row that raise the alarm
    #[arg(long, default_value = "1", value_name = "STEPS")]
    raise_after: NonZeroU32,
    /// Quiet steps in a row that clear the alarm; without it the alarm stays until the next episode
    #[arg(long, value_name = "STEPS")]
    clear_after: Option<NonZeroU32>,
    /// Whether the file is to hold what a diagnosis needs; it takes as long to fit as `ensemble-dm`
    #[arg(long, default_value_t = fit::diagnosis(), action = clap::ArgAction::Set, value_name = "true|false")]
    diagnosis: bool,
    /// Faults of each kind that are played in the environment, so that a diagnosis can name a fault, such as a parameter of the
    /// dynamics, with its magnitude; 0 for none [default: 60 in environments of this program, 0 in others]
    #[arg(long, value_name = "N", conflicts_with = "logs")]
    faults: Option<u32>,
    /// Steps in a row that a number may be missing before its sensor counts as lost [default: as many as nineteen of twenty
    /// calibration episodes go without one at most, and 10 at least]
    #[arg(long, value_name = "STEPS")]
    lost_after: Option<u32>,
    /// Fit nothing: take this monitor, and let its threshold follow the logs or the episodes of --data, which are nominal and later
    /// than those of its fit
    #[arg(long, value_name = "FILE.monitor", conflicts_with_all = ["env", "policy", "detector", "train", "calibration", "rule", "alpha",
        "confidence", "run_length", "block", "monitors", "by_task", "arm_after", "raise_after", "clear_after", "diagnosis", "faults", "lost_after"])]
    recalibrate: Option<PathBuf>,
    /// With --recalibrate: last episodes that set the threshold; at least as many as its promise needs are taken
    #[arg(long, default_value_t = recalibrate::memory(), value_name = "N", requires = "recalibrate")]
    memory: usize,
    /// With --recalibrate: how far the threshold may rise, in units of the distance from the median episode of the fit to its
    /// threshold
    #[arg(long, default_value_t = recalibrate::tolerance(), value_name = "C", requires = "recalibrate")]
    tolerance: f64,
    /// The file to write
    #[arg(long, value_name = "FILE.monitor")]
    out: PathBuf,
}

impl Fit {
    /// Fits, calibrates, writes the file and says what it holds.
    ///
    /// # Errors
    /// If the environment, the policy, the detector or the episodes cannot be had, or there are too few of them.
    pub fn run(self, common: &Common) -> Result<Outcome> {
        if let Some(monitor) = self.recalibrate.clone() {
            return self.recalibrated(monitor, common);
        }
        let Fit {
            logs,
            map,
            env,
            policy,
            detector,
            data,
            train,
            calibration,
            rule,
            alpha,
            confidence,
            run_length,
            block,
            monitors,
            by_task,
            diagnosis,
            faults,
            lost_after,
            ..
        } = self;
        let Fit { arm_after, raise_after, clear_after, out: file, .. } = self;
        let alarm = Settings { arm_after, raise_after, clear_after };
        if logs.is_empty() {
            let env = common.environment(&env.unwrap_or_default())?;
            let policy = policy.unwrap_or_default();
            let request = fit::Request {
                env,
                policy,
                detector,
                data,
                train,
                calibration,
                rule,
                alpha,
                confidence,
                run_length,
                block,
                monitors,
                alarm,
                diagnosis,
                faults,
                lost_after,
                file,
            };
            return common.print(&fit::run(&request, &common.context())?);
        }
        let request = logs::Request {
            logs,
            map,
            detector,
            train,
            calibration,
            rule,
            alpha,
            confidence,
            run_length,
            block,
            monitors,
            by_task,
            alarm,
            diagnosis,
            lost_after,
            file,
        };
        common.print(&logs::run(&request, &common.context())?)
    }

    fn recalibrated(self, monitor: PathBuf, common: &Common) -> Result<Outcome> {
        let Fit { logs, map, data, memory, tolerance, out: file, .. } = self;
        if logs.is_empty() {
            let data = data.context("--recalibrate: expected LOGS or --data FILE.arrow, found neither")?;
            let request = recalibrate::Request { monitor, data, memory, tolerance, file };
            return common.print(&recalibrate::run(&request, &common.context())?);
        }
        let request = of_logs::Request { monitor, logs, map, memory, tolerance, file };
        common.print(&of_logs::run(&request, &common.context())?)
    }
}
