//! The answer in words, computed from the rows: who notices best, how soon, at which price, and whether the
//! controls behave.

use crate::report::index::Index;
use crate::report::summary;
use offnominal_core::estimate::Estimate;
use offnominal_report::number::{format, full};
use offnominal_stats::metric::{self, Unit};
use serde::Serialize;
use statrs::distribution::{ContinuousCDF, Normal};

/// The metric that ranks the detectors.
const RANKING: &str = "auroc_matched";

/// What the report says before any table.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Answer {
    /// The best detector, with which the first sentence begins.
    pub best: String,
    /// Sentences of the answer.
    pub sentences: Vec<String>,
    /// The controls that score as they must.
    pub controls: Vec<String>,
    /// Sentences about what must be doubted.
    pub warnings: Vec<String>,
    /// The numbers to see first.
    pub tiles: Vec<Tile>,
}

/// A number to see first.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Tile {
    /// What it is.
    pub label: String,
    /// The value.
    pub value: String,
    /// Its interval.
    pub interval: String,
}

/// The answer that the rows give.
pub fn answer(index: &Index) -> Answer {
    let mut answer = Answer::default();
    let ranking = ranking(index);
    match ranking.as_slice() {
        [] => answer.warnings.push("There is no detector with a time-matched AUROC in these results.".into()),
        [best, others @ ..] => describe(index, best, others.first(), &mut answer),
    }
    controls(index, &mut answer);
    gaps(index, &mut answer);
    answer
}

/// Detectors other than the baselines, best first.
fn ranking(index: &Index) -> Vec<(usize, Estimate)> {
    let known = (0..index.detectors.len()).filter(|&d| !index.is_baseline(d));
    let mut ranking: Vec<(usize, Estimate)> =
        known.filter_map(|d| Some((d, summary::estimate(index, None, d, RANKING, "")?))).collect();
    ranking.sort_by(|a, b| b.1.value.total_cmp(&a.1.value));
    ranking
}

fn describe(
    index: &Index,
    best: &(usize, Estimate),
    second: Option<&(usize, Estimate)>,
    answer: &mut Answer,
) {
    let name = &index.detectors[best.0];
    answer.best.clone_from(name);
    answer.sentences.push(format!(
        "tells anomalous from nominal behaviour best: time-matched AUROC {}, {}.",
        written(&best.1, RANKING),
        scope(index, &best.1)
    ));
    answer.tiles.push(tile(format!("{name}: AUROC matched"), &best.1, RANKING));
    answer.sentences.extend(second.and_then(|second| ahead(index, best.0, second.0)));
    alarms(index, best.0, answer);
    answer.sentences.extend(by_strength(index, best.0));
    answer.sentences.extend(blind_spot(index, best.0));
}

fn scope(index: &Index, estimate: &Estimate) -> String {
    let environments = plural(index.environments.len(), "environment", "environments");
    let anomalies =
        crate::report::distinct(index.anomalous(None).iter().map(|&s| &index.settings[s].anomaly));
    let anomalies = plural(anomalies.len(), "anomaly", "anomalies");
    let cells = plural(estimate.n, "cell", "cells");
    let strengths = plural(strengths(index).len(), "strength", "strengths");
    format!("the mean over {cells} ({anomalies} at up to {strengths} in {environments})")
}

fn strengths<'i>(index: &'i Index) -> Vec<&'i String> {
    let mut all = crate::report::distinct(index.anomalous(None).iter().map(|&s| &index.settings[s].strength));
    all.sort_by_key(|s| crate::report::settings::strength_rank(s));
    all
}

fn plural(n: usize, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}

fn written(estimate: &Estimate, metric: &str) -> String {
    metric::find(metric).map_or_else(String::new, |m| full(estimate, m.unit))
}

fn tile(label: String, estimate: &Estimate, metric: &'static str) -> Tile {
    let unit = metric::find(metric).map_or(Unit::Area, |m| m.unit);
    let interval = offnominal_report::number::interval(estimate.low, estimate.high, unit);
    Tile { label, value: format(estimate.value, unit), interval }
}

fn ahead(index: &Index, best: usize, second: usize) -> Option<String> {
    let difference = summary::difference(index, best, second, RANKING)?;
    let name = &index.detectors[second];
    let by = full(&difference, Unit::Area);
    Some(if difference.low.is_nan() {
        format!("Its difference to {name}, {by}, cannot be judged from so few anomalies.")
    } else if difference.low > 0.0 {
        format!("It is ahead of {name} by {by}.")
    } else {
        format!("Its difference to {name}, {by}, is within the uncertainty.")
    })
}

fn alarms(index: &Index, best: usize, answer: &mut Answer) {
    let threshold = index.headline();
    let of = |metric| summary::estimate(index, None, best, metric, threshold);
    let (Some(soon), Some(wrong)) = (of("d20"), of("false_alarm_rate")) else { return };
    answer.sentences.push(format!(
        "With the {threshold} threshold it notices {} of the anomalies within 20 steps, and raises a false alarm in {} of \
         the nominal episodes.",
        written(&soon, "d20"),
        written(&wrong, "false_alarm_rate")
    ));
    answer.tiles.push(tile("noticed within 20 steps".into(), &soon, "d20"));
    answer.tiles.push(tile("nominal episodes with a false alarm".into(), &wrong, "false_alarm_rate"));
}

fn by_strength(index: &Index, best: usize) -> Option<String> {
    let strengths = strengths(index);
    let [first, .., last] = strengths.as_slice() else { return None };
    let (low, high) = (mean_at(index, best, first)?, mean_at(index, best, last)?);
    Some(format!("Its mean goes from {low:.2} at {first} to {high:.2} at {last} strength."))
}

fn mean_at(index: &Index, detector: usize, strength: &str) -> Option<f64> {
    let settings = index.anomalous(None).into_iter().filter(|&s| index.settings[s].strength == strength);
    let points: Vec<_> = settings.filter_map(|s| index.point(s, detector, RANKING, "")).collect();
    crate::report::aggregate::mean(&points, (0.0, 1.0)).map(|e| e.value)
}

/// The setting at the largest strength where the best detector still sees least.
fn blind_spot(index: &Index, best: usize) -> Option<String> {
    let strengths = strengths(index);
    let strongest: &str = strengths.last()?;
    let settings = index.anomalous(None).into_iter().filter(|&s| index.settings[s].strength == strongest);
    let values = settings.filter_map(|s| Some((s, index.point(s, best, RANKING, "")?.value)));
    let (setting, value) = values.min_by(|a, b| a.1.total_cmp(&b.1))?;
    let s = &index.settings[setting];
    Some(format!(
        "Its weakest spot at {strongest} strength is {} in {} ({value:.2}).",
        s.anomaly, s.environment
    ))
}

/// Baselines and nominal episodes must score one half, or something other than the anomaly is being measured.
///
/// Of many intervals some miss by chance, so a warning needs a deviation that is surprising for all of them together
/// (Bonferroni's 5 %).
fn controls(index: &Index, answer: &mut Answer) {
    let detectors = 0..index.detectors.len();
    let with_name = |d: usize, e: Estimate| (index.detectors[d].clone(), e);
    let own = |d: usize| Some(with_name(d, summary::estimate(index, None, d, RANKING, "")?));
    let baselines: Vec<_> = detectors.clone().filter(|&d| index.is_baseline(d)).filter_map(own).collect();
    let nominal: Vec<_> = detectors.filter_map(|d| Some(with_name(d, on_nominal(index, d)?))).collect();
    let wider = widening(baselines.len() + nominal.len());
    judge("baselines", &baselines, wider, answer);
    judge("nominal episodes taken for anomalous", &nominal, wider, answer);
}

fn on_nominal(index: &Index, detector: usize) -> Option<Estimate> {
    let settings = index.controls(None).into_iter();
    let points: Vec<_> = settings.filter_map(|s| index.point(s, detector, RANKING, "")).collect();
    crate::report::aggregate::mean(&points, (0.0, 1.0))
}

/// How much wider than one 95 % interval each of `n` must be, so that all of them hold together with 95 %.
fn widening(n: usize) -> f64 {
    let quantile = |tail: f64| Normal::standard().inverse_cdf(1.0 - tail);
    quantile(0.025 / n.max(1) as f64) / quantile(0.025)
}

fn judge(kind: &str, controls: &[(String, Estimate)], wider: f64, answer: &mut Answer) {
    let (sound, odd): (Vec<_>, Vec<_>) = controls.iter().partition(|(_, e)| is_half(e, wider));
    let list = |of: &[&(String, Estimate)]| -> String {
        let each = of.iter().map(|(name, e)| format!("{name} {}", full(e, Unit::Area)));
        each.collect::<Vec<_>>().join(", ")
    };
    if !sound.is_empty() {
        answer.controls.push(format!("{kind}: {}", list(&sound)));
    }
    if !odd.is_empty() {
        answer.warnings.push(format!(
            "A control is off: the time-matched AUROC must be .500, but {kind} have {}. Something other than the anomaly is told \
             apart, and the other numbers may share that fault.",
            list(&odd)
        ));
    }
}

fn is_half(e: &Estimate, wider: f64) -> bool {
    let (low, high) = (e.value - wider * (e.value - e.low), e.value + wider * (e.high - e.value));
    low - 1e-9 <= 0.5 && 0.5 <= high + 1e-9
}

fn gaps(index: &Index, answer: &mut Answer) {
    let missing = |s: &usize| {
        let mut rows = (0..index.detectors.len()).flat_map(|d| index.rows(*s, d, RANKING, ""));
        rows.clone().next().is_some() && rows.all(|r| r.value.is_nan())
    };
    let n = index.anomalous(None).iter().filter(|s| missing(s)).count();
    if n > 0 {
        let settings = plural(n, "setting has", "settings have");
        answer.warnings.push(format!("{settings} no data; a dash stands there, and no mean contains them."));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample::row;

    fn rows(clock: f64) -> Vec<crate::results::Row> {
        let mut rows = Vec::new();
        for anomaly in ["obs-noise", "act-delay", "obs-drift"] {
            for (strength, gain) in [("tiny", 0.1), ("extreme", 0.4)] {
                rows.push(row("knn", anomaly, strength, "auroc_matched", "", 0.5 + gain));
                rows.push(row("pe-dm", anomaly, strength, "auroc_matched", "", 0.55 + gain));
                rows.push(row("pe-dm", anomaly, strength, "d20", "conformal", 0.7));
                rows.push(row("pe-dm", anomaly, strength, "false_alarm_rate", "conformal", 0.05));
                rows.push(row("clock", anomaly, strength, "auroc_matched", "", clock));
            }
        }
        rows
    }

    #[test]
    fn the_best_is_named_with_its_numbers() {
        let rows = rows(0.5);
        let answer = answer(&Index::new(&rows));
        let text = answer.sentences.join(" ");
        assert!(text.starts_with("tells anomalous from nominal behaviour best: time-matched AUROC 0.800"));
        assert!(text.contains("6 cells (3 anomalies at up to 2 strengths in 1 environment)"), "{text}");
        assert!(text.contains("ahead of knn by 0.050"), "{text}");
        assert!(text.contains("notices 70.0 % [68.0 – 72.0 %] of the anomalies within 20 steps"), "{text}");
        assert!(text.contains("from 0.65 at tiny to 0.95 at extreme"), "{text}");
        assert_eq!((answer.best.as_str(), answer.controls.len(), answer.warnings.len()), ("pe-dm", 1, 0));
    }

    #[test]
    fn a_clock_that_knows_something_is_a_warning() {
        let rows = rows(0.6);
        let answer = answer(&Index::new(&rows));
        assert!(answer.controls.is_empty());
        assert!(answer.warnings[0].contains("baselines have clock 0.600"), "{:?}", answer.warnings);
    }

    #[test]
    fn many_controls_may_miss_a_little_and_none_by_far() {
        assert!((widening(1) - 1.0).abs() < 1e-12 && (widening(10) - 2.807 / 1.96).abs() < 1e-3);
        let control = |value| {
            let row = row("knn", "none", "none", "auroc_matched", "", value);
            crate::results::Row { anomaly_class: "none".into(), ..row }
        };
        let warnings = |value| {
            let mut rows = rows(0.5);
            rows.push(control(value));
            answer(&Index::new(&rows)).warnings.len()
        };
        assert_eq!((warnings(0.521), warnings(0.54)), (0, 1));
    }

    #[test]
    fn a_lead_on_few_anomalies_is_not_judged() {
        let mut rows = rows(0.5);
        rows.retain(|r| r.anomaly == "obs-noise");
        let text = answer(&Index::new(&rows)).sentences.join(" ");
        assert!(
            text.contains("difference to knn, 0.050, cannot be judged") && !text.contains("NaN"),
            "{text}"
        );
    }

    #[test]
    fn no_rows_give_no_answer() {
        assert_eq!(answer(&Index::new(&[])).warnings.len(), 1);
    }
}
