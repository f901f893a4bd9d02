//! Two anomalies that do the same are one: the later one is marked and not benchmarked.
//!
//! Two magnitudes are compared by what the episodes look like. With x, y the observations under the two anomalies and z
//! the nominal ones, all with the same seeds, d = ‖x − y‖ / ‖x − z‖ over the steps that all three have. Independent
//! disturbances give d around 1 or more; a force that equals an action offset gives d near 0, not exactly 0 as the two
//! calibrated magnitudes agree only up to the noise of their search. For that reason two anomalies are the same if they
//! are at more than half of the levels that both have, and not only if they are at all. The anomalies begin after a third
//! of the nominal episode: from the first step on, a long delay and a stuck command would be one and the same.

use crate::calibrate::{Scale, whole};
use anyhow::Result;
use offnominal_core::episode::Episode;
use offnominal_engine::catalogues;
use offnominal_engine::strengths::{Status, Strength};
use offnominal_engine::subject::Subject;

/// Episodes compared.
const N_EPISODES: usize = 6;

/// Relative distance below which two anomalies count as the same.
const SAME: f64 = 0.2;

/// Marks the anomalies that duplicate an earlier one, at every level where they have a magnitude.
pub(super) fn mark(subject: &Subject, scale: &Scale, rows: &mut [Strength]) -> Result<()> {
    let nominal: Vec<Episode> =
        (0..N_EPISODES).map(|i| subject.trial().nominal(scale.seed.child(i))).collect();
    let mut played = Vec::new();
    for row in rows.iter().filter(|row| row.status == Status::Found) {
        let Some(magnitude) = row.magnitude else { continue };
        let anomaly_spec = whole(&row.anomaly, magnitude);
        let play = |i: usize| {
            let onset = nominal[i].len() as u32 / 3;
            let (seed, anomalies) = (scale.seed.child(i), catalogues::anomalies());
            Ok(subject.trial().disturbed(seed, &anomaly_spec, onset, &anomalies)?)
        };
        let episodes: Result<Vec<Episode>> = (0..N_EPISODES).map(play).collect();
        played.push(Played { anomaly: row.anomaly.clone(), level: row.level.clone(), episodes: episodes? });
    }
    let mut names: Vec<&str> = played.iter().map(|p| p.anomaly.as_str()).collect();
    names.dedup();
    for (i, anomaly) in names.iter().enumerate() {
        if let Some(original) = names[..i].iter().find(|other| are_same(anomaly, other, &played, &nominal)) {
            retire(rows, anomaly, original);
        }
    }
    Ok(())
}

/// The episodes of one anomaly at one level.
struct Played {
    anomaly: String,
    level: String,
    episodes: Vec<Episode>,
}

/// Whether two anomalies look alike at more than half of the levels that both have.
fn are_same(a: &str, b: &str, played: &[Played], nominal: &[Episode]) -> bool {
    let of = |id: &str| played.iter().filter(move |p| p.anomaly == id).collect::<Vec<_>>();
    let (a, b) = (of(a), of(b));
    let both = a.iter().flat_map(|x| b.iter().filter(|y| y.level == x.level).map(move |y| (x, y)));
    let alike: Vec<bool> = both.map(|(x, y)| distance(&x.episodes, &y.episodes, nominal) < SAME).collect();
    2 * alike.iter().filter(|&&same| same).count() > alike.len()
}

/// Marks every magnitude of an anomaly, unless the original was retired itself.
fn retire(rows: &mut [Strength], anomaly: &str, original: &str) {
    if rows.iter().any(|row| row.anomaly == original && row.status == Status::Duplicate) {
        return;
    }
    for row in rows.iter_mut().filter(|row| row.anomaly == anomaly && row.status == Status::Found) {
        row.status = Status::Duplicate;
        row.duplicate_of = Some(original.into());
    }
}

/// d of the module's documentation.
fn distance(x: &[Episode], y: &[Episode], nominal: &[Episode]) -> f64 {
    let (mut apart, mut moved) = (0.0, 0.0);
    for ((x, y), z) in x.iter().zip(y).zip(nominal) {
        let pairs = x.observations.iter().zip(&y.observations).zip(&z.observations);
        for ((x, y), z) in pairs {
            apart += f64::from(x - y).powi(2);
            moved += f64::from(x - z).powi(2);
        }
    }
    (apart / moved.max(f64::MIN_POSITIVE)).sqrt()
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
            duplicate_of: None,
        }
    }

    #[test]
    fn the_same_fault_in_other_words_is_found() {
        let subject = Subject::new("sap-goal0", "random").unwrap();
        let scale = Scale {
            seed: offnominal_core::Seed(1),
            expert: 1.0,
            random: 0.0,
            nominal: vec![],
            deviations: Default::default(),
        };
        // Away from contacts, twice the mass is half the command; a drift is neither.
        let mut rows = vec![row("act-scaling", 0.5), row("dyn-mass", 2.02), row("act-drift", 0.05)];
        mark(&subject, &scale, &mut rows).unwrap();
        let found: Vec<_> = rows.iter().map(|r| (r.status, r.duplicate_of.as_deref())).collect();
        let duplicate = (Status::Duplicate, Some("act-scaling"));
        assert_eq!(found, [(Status::Found, None), duplicate, (Status::Found, None)]);
    }
}
