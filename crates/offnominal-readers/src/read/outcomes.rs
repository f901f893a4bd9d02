//! Readers of outcomes that others recorded.

use offnominal_risk::compare::recorded::read::from_bytes;
use offnominal_risk::compare::recorded::trials::Recording;
use std::path::Path;

/// Outcomes in JSON: of LeRobot, of inspect-robots.
pub fn outcomes_json(bytes: &[u8]) -> bool {
    is_accepted(bytes, "outcomes.json")
}

/// Outcomes in a table.
pub fn outcomes_table(bytes: &[u8]) -> bool {
    is_accepted(bytes, "outcomes.csv")
}

fn is_accepted(bytes: &[u8], name: &str) -> bool {
    from_bytes(bytes, Path::new(name))
        .is_ok_and(|found| found.iter().all(|one| Recording::check(one).is_ok()))
}
