//! The monitor to run beside the policy: the recommended detector with a threshold that keeps a promise of few alarms.

use crate::plan::Plan;
use crate::request::Request;
use anyhow::Result;
use offnominal_engine::context::Context;
use offnominal_engine::detector_choice::DetectorChoice;
use offnominal_engine::fit::{self, FittedMonitor};

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
    let asked = fit::Request {
        env: request.env.clone(),
        policy: request.policy.clone(),
        detector: detector.clone(),
        data: None,
        train: Some(effort.train as u32),
        calibration: Some(plan.validation as u32),
        rule: fit::rule(),
        alpha: plan.alpha,
        confidence: None,
        run_length: None,
        block: None,
        monitors: fit::monitors(),
        alarm: Default::default(),
        diagnosis: fit::diagnosis(),
        // An audit asks whether faults are noticed, not what they are called.
        faults: Some(0),
        lost_after: None,
        file: request.out.join(FILE),
    };
    fit::run(&asked, context)
}
