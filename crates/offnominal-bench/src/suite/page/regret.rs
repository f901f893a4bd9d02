//! How far each detector is from the best one of each cell.

use crate::report::aggregate::{self, Point};
use crate::suite::Row;
use crate::suite::page::gain::OURS;
use crate::suite::page::pick::Pick;
use crate::suite::page::{
    CHOICE, Column, Found, POLICY, SIBLINGS, estimate, is_held_out, left_out, table_of, two,
};
use offnominal_core::estimate::Estimate;
use std::collections::BTreeMap;

const MATCHED: (&str, &str) = ("auroc_matched", "");
const D20: (&str, &str) = ("d20", "conformal");
/// A regret of AUROC that counts as a failure in a cell.
const LARGE: f64 = 0.05;
/// Cells of which details are shown.
const SHOWN: usize = 12;
/// They know nothing, so they are best by chance only.
const BASELINES: [&str; 2] = ["clock", "random"];

pub(super) fn section(found: &Found) -> String {
    let lines = Pick::anomalies(&found.rows, POLICY, &[MATCHED.0, D20.0]);
    let everywhere = found.detectors_everywhere();
    let detectors: Vec<&str> = everywhere.into_iter().filter(|d| !BASELINES.contains(d)).collect();
    let lines = lines.only(|l| detectors.contains(&&*l.detector));
    let others = lines.only(|l| is_held_out(&l.env));
    let (matched, d20) = (Regrets::of(&others, MATCHED), Regrets::of(&others, D20));
    let columns: [Column<'_, &str>; 6] = [
        ("detector", &|d| format!("`{d}`")),
        ("found in 20 steps", &|d| estimate(others.detector(d).mean(D20.0, D20.1))),
        ("regret", &|d| estimate(d20.mean(d))),
        ("AUROC matched, tiny", &|d| {
            estimate(others.detector(d).strength("tiny").mean(MATCHED.0, MATCHED.1))
        }),
        ("regret, all strengths", &|d| estimate(matched.mean(d))),
        ("cells with a regret above 0.05", &|d| {
            let own = matched.points(d);
            format!("{} of {}", own.iter().filter(|p| p.value > LARGE).count(), own.len())
        }),
    ];
    format!(
        "## Regret\n\nThe best detector of a cell is the one of this table with the highest number there, chosen in \
         hindsight; the regret of another one is what it lacks. Environments of the choice and their siblings ({}) are left out. The hindsight favours \
         chance a little: regrets are above zero even among detectors that are equally good.{}\n\n{}\n{}",
        [&CHOICE[..], &SIBLINGS].concat().join(", "),
        left_out(found),
        table_of(&detectors, &columns),
        largest(&lines)
    )
}

/// The cells in which ours lacks most AUROC, in all environments.
fn largest(lines: &Pick<'_>) -> String {
    let lines = lines.metric(MATCHED.0, MATCHED.1).only(|l| !l.value.is_nan());
    let mut best: BTreeMap<[&str; 3], &Row> = BTreeMap::new();
    for &line in &lines.0 {
        let top = best.entry(cell_of(line)).or_insert(line);
        if line.value > top.value {
            *top = line;
        }
    }
    let ours = lines.detector(OURS);
    let mut cells: Vec<(&Row, &Row)> = ours.0.iter().map(|own| (*own, best[&cell_of(own)])).collect();
    cells.retain(|(own, best)| best.value - own.value > LARGE);
    cells.sort_by(|(a, x), (b, y)| (y.value - b.value).total_cmp(&(x.value - a.value)));
    if cells.is_empty() {
        return format!(
            "In no cell, those of the choice included, `{OURS}` lacks more than {LARGE} of AUROC.\n"
        );
    }
    let columns: [Column<'_, (&Row, &Row)>; 5] = [
        ("environment", &|(own, _)| own.env.clone()),
        ("anomaly", &|(own, _)| format!("{}, {}", own.anomaly, own.strength)),
        (OURS, &|(own, _)| two(own.value)),
        ("best", &|(_, best)| two(best.value)),
        ("which is", &|(_, best)| format!("`{}`", best.detector)),
    ];
    let n = cells.len();
    cells.truncate(SHOWN);
    format!(
        "Cells of all environments in which `{OURS}` lacks more than {LARGE} of AUROC, {} of {n}:\n\n{}",
        cells.len(),
        table_of(&cells, &columns)
    )
}

fn cell_of(line: &Row) -> [&str; 3] {
    [&line.env, &line.anomaly, &line.strength]
}

/// The regret of every detector in every cell.
struct Regrets(BTreeMap<String, Vec<Point>>);

impl Regrets {
    fn of(lines: &Pick<'_>, (metric, rule): (&str, &str)) -> Regrets {
        let lines = lines.metric(metric, rule).only(|l| !l.value.is_nan());
        let mut best: BTreeMap<[&str; 3], f64> = BTreeMap::new();
        for line in &lines.0 {
            let top = best.entry(cell_of(line)).or_insert(f64::NEG_INFINITY);
            *top = top.max(line.value);
        }
        let mut regrets: BTreeMap<String, Vec<Point>> = BTreeMap::new();
        for (line, point) in lines.0.iter().zip(lines.points(metric, rule)) {
            let value = best[&cell_of(line)] - line.value;
            let of = regrets.entry(line.detector.clone()).or_default();
            of.push(Point { value, low: f64::NAN, high: f64::NAN, cluster: point.cluster });
        }
        Regrets(regrets)
    }

    fn points(&self, detector: &str) -> &[Point] {
        self.0.get(detector).map_or(&[], Vec::as_slice)
    }

    fn mean(&self, detector: &str) -> Option<Estimate> {
        aggregate::mean(self.points(detector), (0.0, 1.0))
    }
}
