//! The monitor to run beside the policy: the recommended detector with a threshold that keeps a promise of few alarms.

use crate::plan::Plan;
use crate::request::Request;
use anyhow::Result;
use offnominal_engine::context::Context;
use offnominal_engine::detector_choice::DetectorChoice;
use offnominal_engine::fit::{self, FittedMonitor};
use offnominal_engine::rule_choice::Threshold;
use offnominal_work::fitting::Fitting;

/// Name of the file in an audit's folder.
pub const FILE: &str = "audit.monitor";

/// Fits the detector on nominal episodes of its own, and writes the monitor's file.
///
/// # Errors
/// If the detector cannot be fitted, or the file cannot be written.
pub fn run(
    request: &Request,
    plan: &Plan,
    detector: &DetectorChoice,
    context: &Context,
) -> Result<FittedMonitor> {
    let effort = plan.effort();
    let fitting = Fitting {
        detector: detector.clone(),
        train: Some(effort.train as u32),
        calibration: Some(plan.validation as u32),
        threshold: Threshold { alpha: plan.alpha, ..Threshold::default() },
        ..Fitting::default()
    };
    let (env, policy, file) = (request.env.clone(), request.policy.clone(), request.out.join(FILE));
    // An audit asks whether faults are noticed, not what they are called.
    let asked = fit::Request { env, policy, data: None, faults: Some(0), fitting, file };
    let found = fit::run(&asked, context)?;
    found.warnings.iter().for_each(|warning| context.note(warning));
    Ok(found)
}
