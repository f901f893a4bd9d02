//! Two anomalies that do the same are one: the later one is marked and not benchmarked.
//!
//! Two magnitudes are compared by what the episodes look like. With x, y the observations under the two anomalies and z
//! the nominal ones, all with the same seeds, d = ‖x − y‖ / ‖x − z‖ over the steps that all three have. Independent
//! disturbances give d around 1 or more; a force that equals an action offset gives d near 0, not exactly 0 as the two
//! calibrated magnitudes agree only up to the noise of their search.

use super::{Scale, disturbed, whole};
use crate::cast::Cast;
use crate::strengths::{Status, Strength};
use anyhow::Result;
use offnominal_core::episode::Episode;

/// Episodes compared.
const N_EPISODES: usize = 6;

/// Relative distance below which two anomalies count as the same.
const SAME: f64 = 0.1;

/// Marks, at each level, the anomalies that duplicate an earlier one.
pub(super) fn mark(cast: &Cast, scale: &Scale, rows: &mut [Strength]) -> Result<()> {
    let nominal: Vec<Episode> = (0..N_EPISODES).map(|i| cast.trial().nominal(scale.seed.child(i))).collect();
    let mut kept: Vec<(String, Vec<Episode>)> = Vec::new();
    for row in rows.iter_mut().filter(|row| row.status == Status::Found) {
        let Some(magnitude) = row.magnitude else { continue };
        let fault = whole(&row.anomaly, magnitude);
        let play = |i| disturbed(cast, scale, i, &fault);
        let episodes: Vec<Episode> = (0..N_EPISODES).map(play).collect::<Result<_>>()?;
        let same = |(level, other): &(String, Vec<Episode>)| {
            *level == row.level && distance(&episodes, other) < SAME * distance(&episodes, &nominal)
        };
        if kept.iter().any(same) {
            row.status = Status::Duplicate;
        } else {
            kept.push((row.level.clone(), episodes));
        }
    }
    Ok(())
}

/// Root of the summed squared difference of the observations, over the steps that both have.
fn distance(a: &[Episode], b: &[Episode]) -> f64 {
    let pairs = a.iter().zip(b).flat_map(|(x, y)| x.observations.iter().zip(&y.observations));
    pairs.map(|(x, y)| f64::from(x - y).powi(2)).sum::<f64>().sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(anomaly: &str, magnitude: f64) -> Strength {
        Strength {
            env: "sap-goal0".into(),
            policy: "random".into(),
            anomaly: anomaly.into(),
            level: "strong".into(),
            magnitude: Some(magnitude),
            low: None,
            high: None,
            score: None,
            score_low: None,
            score_high: None,
            episodes: 0,
            status: Status::Found,
        }
    }

    #[test]
    fn the_same_fault_in_other_words_is_found() {
        let cast = Cast::new("sap-goal0", "random").unwrap();
        let scale = Scale { seed: offnominal_core::Seed(1), expert: 1.0, random: 0.0, nominal: vec![] };
        // A drift of the observation is not its offset; an offset of 0.5 and one of 0.501 are the same thing.
        let mut rows = vec![row("obs-offset", 0.5), row("obs-offset", 0.501), row("obs-drift", 0.05)];
        mark(&cast, &scale, &mut rows).unwrap();
        let statuses: Vec<Status> = rows.iter().map(|r| r.status).collect();
        assert_eq!(statuses, [Status::Found, Status::Duplicate, Status::Found]);
    }
}
