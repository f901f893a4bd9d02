//! The plan in the folder of an audit.

use super::Plan;
use crate::depth_choice::DepthChoice;
use anyhow::{Result, ensure};
use offnominal_files::sealed;
use std::path::Path;

/// Name of the file in an audit's folder.
pub const FILE: &str = "plan.json";

/// The plan in a folder, if it is that of the same request, or a new one, which is kept there.
///
/// # Errors
/// If the folder holds the plan of another audit, or a file cannot be read or written.
pub fn kept(folder: &Path, new: Plan, asked: Option<&DepthChoice>) -> Result<Plan> {
    let path = folder.join(FILE);
    if !path.exists() {
        sealed::write(&path, &new)?;
        return Ok(new);
    }
    let old: Plan = sealed::read(&path)?;
    let same = |plan: &Plan| {
        let Plan { env, policy, seed, alpha, .. } = plan.clone();
        (env, policy, seed, alpha.to_bits())
    };
    let is_same = same(&old) == same(&new)
        && asked.is_none_or(|_| (old.depth, old.counts) == (new.depth, new.counts))
        && (old.depth != new.depth || (&old.anomalies, &old.detectors) == (&new.anomalies, &new.detectors));
    let said = |plan: &Plan| {
        let Plan { env, policy, seed, alpha, anomalies, .. } = plan;
        let depth = plan.depth_choice();
        format!(
            "{env} with {policy} at seed {seed} and alpha {alpha} ({} faults, depth {depth})",
            anomalies.len()
        )
    };
    ensure!(
        is_same,
        "{}: expected the plan of {}, found that of {}; another audit needs another --out",
        path.display(),
        said(&new),
        said(&old)
    );
    Ok(old)
}
