//! How strong each fault must be to cost the policy 1, 10, 25 and 50 % of its score.

use crate::plan::Plan;
use crate::request::Request;
use anyhow::{Result, bail};
use offnominal_bench::calibrate::{self, Rows};
use offnominal_engine::context::Context;
use offnominal_engine::strengths::Strength;
use offnominal_work::cli;
use serde_json::json;

/// The folder of the stage in that of the audit.
pub const FOLDER: &str = "strengths";

/// Calibrates the faults of a plan.
///
/// # Errors
/// If the policy earns no more than a random one, or a file cannot be written.
pub fn run(request: &Request, plan: &Plan, context: &Context) -> Result<Vec<Strength>> {
    let effort = plan.effort();
    let asked = json!({
        "env": request.env, "policy": request.policy, "anomalies": plan.anomalies, "episodes": effort.calibration,
        "budget": effort.calibration_budget, "precision": effort.precision, "out": request.out.join(FOLDER),
    });
    match calibrate::run(&cli::request(&asked)?, context)?.rows {
        Rows::Levels(rows) => Ok(rows),
        _ => bail!("expected strengths of levels, which is a mistake of this program"),
    }
}
