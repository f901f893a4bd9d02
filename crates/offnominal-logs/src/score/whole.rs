//! How well recordings that are bad as a whole are told from good ones.

use crate::score::ScoredRecording;
use offnominal_core::Seed;
use offnominal_core::estimate::Estimate;
use offnominal_stats::bootstrap::Range;
use offnominal_stats::ranking::Ranking;
use offnominal_stats::{Bootstrap, Level};
use serde::Serialize;
use std::fmt::{self, Display, Formatter};
use std::path::Path;

/// Replicates of an interval.
const REPLICATES: usize = 1000;

/// How well bad recordings are told from good ones, each judged once.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Whole {
    /// What is judged once: recordings, or logs where they are cut into windows.
    pub judged: &'static str,
    /// The area under the ROC curve of the largest statistic of each recording; of each log, where it is cut into windows. `None` if all are
    /// good, all are bad, or they are of several tasks, whose statistics are not compared.
    pub auroc: Option<Estimate>,
    /// The same of their numbers of steps: longer recordings reach larger statistics.
    pub auroc_of_length: Option<Estimate>,
}

impl Whole {
    /// That of scored recordings.
    pub(super) fn of(recordings: &[ScoredRecording], is_cut: bool, seed: Seed) -> Whole {
        let units = units(recordings, is_cut);
        let is_one_task = recordings.windows(2).all(|pair| pair[0].task == pair[1].task);
        let ranking = |of: fn(&Unit<'_>) -> f64| {
            Ranking::new(units.len(), units.iter().enumerate().map(|(i, unit)| (of(unit), unit.is_bad, i)))
        };
        let [peaks, lengths] = [ranking(|unit| unit.peak), ranking(|unit| unit.steps)];
        let strata: Vec<usize> = units.iter().map(|unit| usize::from(unit.is_bad)).collect();
        let areas = |weights: &[u32]| Some([peaks.tally(weights)?.auroc, lengths.tally(weights)?.auroc]);
        let plan = Bootstrap::new(REPLICATES, Level::P95, seed);
        let found = plan.estimates_within("area over recordings", &strata, [Range::Unit; 2], areas);
        let areas = found.ok().filter(|_| is_one_task);
        let [auroc, auroc_of_length] = areas.map_or([None, None], |areas| areas.map(Some));
        Whole { judged: if is_cut { "logs" } else { "recordings" }, auroc, auroc_of_length }
    }
}

/// What is judged once.
struct Unit<'a> {
    log: &'a Path,
    is_bad: bool,
    peak: f64,
    steps: f64,
}

/// Each recording; of a log that is cut, all of it.
fn units(recordings: &[ScoredRecording], is_cut: bool) -> Vec<Unit<'_>> {
    let mut all: Vec<Unit<'_>> = Vec::new();
    for one in recordings {
        let peak = one.verdicts.iter().map(|v| v.statistic).fold(f64::NEG_INFINITY, f64::max);
        let steps = one.steps as f64;
        match all.iter_mut().find(|unit| is_cut && unit.log == one.log) {
            Some(unit) => (unit.peak, unit.steps) = (unit.peak.max(peak), unit.steps + steps),
            None => all.push(Unit { log: &one.log, is_bad: one.success == Some(false), peak, steps }),
        }
    }
    all
}

impl Display for Whole {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let Some((auroc, length)) = self.auroc.as_ref().zip(self.auroc_of_length.as_ref()) else {
            return write!(
                out,
                "AUROC over {}: none, as it needs good and bad ones of one task",
                self.judged
            );
        };
        write!(
            out,
            "AUROC over {}, bad against good: largest statistic {auroc}, number of steps {length}",
            self.judged
        )
    }
}
