//! The keyword arguments that describe an anomaly, as a recipe.

use anyhow::Result;
use offnominal_core::prelude::*;
use offnominal_engine::anomaly_request::AnomalyRequest;

/// For whom a strength is calibrated where Python does not say it.
const POLICY: &str = "tqc";

/// The anomaly that a JSON object describes, or null for none, checked against the environment and its horizon.
pub(crate) fn read(text: &str, env: &dyn Env, horizon: u32) -> Result<Option<AnomalySpec>> {
    let wanted: Option<AnomalyRequest> = serde_json::from_str(text)?;
    wanted.map(|wanted| wanted.resolve(env, POLICY, horizon, None)).transpose()
}
