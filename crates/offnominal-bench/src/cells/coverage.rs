//! Do the alarm rules keep their promise in nominal episodes that nobody has seen?

use crate::cells::cell::Judgement;
use crate::cells::rows::Alarm;
use crate::cells::scoring::Scored;
use crate::results::Coverage;
use offnominal_stats::{Threshold, proportion};

/// Share of calibrations in which a rule that keeps its promise has at most `Coverage::most` alarms.
const LEVEL: f64 = 0.975;

/// The alarms of every rule that can work with so many episodes, in the twins and the control episodes.
pub(super) fn of(cell: &Judgement, scored: &Scored, alarms: &[Alarm]) -> Vec<Coverage> {
    let control = scored.control.iter().map(|e| &e.scores);
    let watched: Vec<&Vec<f64>> = scored.twins.iter().chain(control).collect();
    let known = alarms.iter().filter_map(|(rule, threshold)| Some((*rule, threshold.as_ref().ok()?)));
    known.map(|(rule, threshold)| row(cell, scored.validation.len(), rule, threshold, &watched)).collect()
}

fn row(
    cell: &Judgement,
    calibration: usize,
    rule: &str,
    threshold: &Threshold,
    watched: &[&Vec<f64>],
) -> Coverage {
    let alarms = watched.iter().filter(|scores| threshold.alarms(scores)).count();
    let ranked = threshold.maxima.len();
    // The share of alarms of one threshold follows a Beta law, so their number in fresh episodes a beta-binomial one.
    let rank = threshold.maxima.iter().filter(|&&maximum| maximum <= threshold.value).count();
    let most = if ranked == 0 {
        watched.len()
    } else {
        proportion::beta_binomial_quantile(watched.len(), (ranked + 1 - rank, rank), LEVEL)
    };
    Coverage {
        env: cell.setup.env.clone(),
        policy: cell.setup.policy.id.clone(),
        detector: cell.detector.name.clone(),
        seed: cell.setup.seed,
        threshold: rule.into(),
        calibration: calibration as u64,
        watched: watched.len() as u64,
        alarms: alarms as u64,
        accepted: cell.false_alarms,
        most: most as u64,
    }
}
