//! Disturbances under which a policy fails only partly: corruptions below those of the publication, and policies that were
//! trained with corrupted images.

use super::methods;
use super::text::{AUGMENTED_NOTE, CLASSES_NOTE, MILDER_NOTE};
use crate::ood_rl::table::{Table, mean_sd, of, share};
use crate::ood_rl::{Judged, MAIN, Method};
use offnominal_stats::Level;
use offnominal_stats::mean::student_t;
use offnominal_worlds::anomaly::IMAGE;
use std::collections::{BTreeMap, BTreeSet};

/// What a policy still does in a variant, by its mean return there and at home.
struct Class {
    title: &'static str,
    holds: fn(f64, f64) -> bool,
}

/// Points less than at home that are no loss: about a standard error of the difference of two means of five games.
const SAME: f64 = 3.0;
/// Points below which a policy hardly scores; random choices make -17.
const COLLAPSED: f64 = -10.0;

const CLASSES: [Class; 4] = [
    Class { title: "as at home", holds: |home, now| now >= home - SAME },
    Class { title: "worse, and wins", holds: |home, now| now < home - SAME && now >= 0.0 },
    Class {
        title: "loses, and scores",
        holds: |home, now| now < home - SAME && (COLLAPSED..0.0).contains(&now),
    },
    Class { title: "collapses", holds: |home, now| now < home - SAME && now < COLLAPSED },
];

/// A policy: how it disagrees with itself, and its trial.
type Of = (Method, u32);

/// The section, where there are milder variants.
pub(super) fn milder(rows: &[Judged]) -> String {
    let rows = &of_those_that_played(rows);
    if rows.is_empty() {
        return String::new();
    }
    let policies: BTreeSet<Of> = rows.iter().map(of_row).collect();
    let names: Vec<String> =
        policies.iter().map(|(method, trial)| format!("{} {trial}", method.title())).collect();
    let mut text = format!("{MILDER_NOTE}The policies that have played there: {}.\n", names.join(", "));
    let kinds = [false, true].map(|augmented| own_methods(rows, augmented));
    if !kinds[1].is_empty() {
        text += &format!("\n{AUGMENTED_NOTE}");
    }
    for methods in kinds.iter().filter(|methods| !methods.is_empty()) {
        text += &format!("\n{}", by_severity(rows, methods).markdown());
    }
    text += &format!("\n{CLASSES_NOTE}");
    for (methods, name) in kinds.iter().zip(["policies that know clean images", "augmented policies"]) {
        if !methods.is_empty() {
            text += &format!("\n{}", by_class(rows, methods, name).markdown());
        }
    }
    text
}

/// What policies did that played in milder variants too: only these can be compared over all severities.
fn of_those_that_played(rows: &[Judged]) -> Vec<Judged> {
    let policies: BTreeSet<Of> = rows.iter().filter(|r| r.is_milder()).map(of_row).collect();
    rows.iter().filter(|r| r.env == "pong" && policies.contains(&of_row(r))).cloned().collect()
}

/// What the tables say in short, as points of a list.
pub(super) fn told(rows: &[Judged]) -> String {
    let usual = own_methods(rows, false);
    let published = || corrupted(rows, &usual, MAIN).filter(|r| r.is_published());
    let points: Vec<f64> = published().map(|r| r.mean_return).collect();
    let [least, most] = [f64::min, f64::max].map(|of| points.iter().copied().reduce(of).unwrap_or(f64::NAN));
    let fails = published().filter(|r| r.fails).count();
    let own = of_those_that_played(rows);
    let mut text = format!(
        "- In pong all three methods tell nearly every corruption of the publication, far better than there. But policies \
         that know clean images only fail in {fails} of {} variants, with mean returns from {least:.1} to {most:.1} where \
         random choices make −17: an AUROC near 1 says that a policy that collapses can be told from one that plays well.\n",
        points.len(),
    );
    for (methods, who) in [false, true].map(|a| own_methods(&own, a)).iter().zip(WHO) {
        if !methods.is_empty() {
            let mean = |class: usize| class_auroc(&own, methods, MAIN, &CLASSES[class]);
            text += &format!(
                "- [Milder disturbances](#milder-disturbances) say more. Where {who} plays as at home, the AUROC of the \
                 published measure is {}; where it is worse, and wins, {}; where it loses, and still scores, {}; and where it \
                 collapses, {}.\n",
                mean(0),
                mean(1),
                mean(2),
                mean(3),
            );
        }
    }
    text
}

/// Policies without and with corrupted images in training.
const WHO: [&str; 2] =
    ["a policy that knows clean images only", "a policy that learned from corrupted images too"];

/// The methods that see images, with or without corruptions in training.
fn own_methods(rows: &[Judged], augmented: bool) -> Vec<Method> {
    methods(rows, "pong").into_iter().filter(|m| m.is_augmented() == augmented).collect()
}

/// The rows in corrupted images, by one measure.
fn corrupted<'a>(
    rows: &'a [Judged],
    methods: &'a [Method],
    measure: &'a str,
) -> impl Iterator<Item = &'a Judged> {
    let own = methods.iter().flat_map(move |m| of(rows, "pong", *m, measure));
    own.filter(|r| r.anomaly.starts_with(IMAGE) && !r.null)
}

/// One line per severity: what the policies make there, and how well it is told.
fn by_severity(rows: &[Judged], methods: &[Method]) -> Table {
    let heads = methods.iter().flat_map(|m| [format!("{}: points", m.title()), "AUROC".to_string()]);
    let heads: Vec<String> = std::iter::once("severity".to_string()).chain(heads).collect();
    let mut table = Table::new(&heads.iter().map(String::as_str).collect::<Vec<_>>());
    let severities: BTreeSet<u64> = corrupted(rows, methods, MAIN).map(|r| r.magnitude.to_bits()).collect();
    for severity in severities.into_iter().map(f64::from_bits) {
        let mut line = vec![severity.to_string()];
        for method in methods {
            let own = || {
                let all = corrupted(rows, std::slice::from_ref(method), MAIN);
                all.filter(|r| r.magnitude == severity)
            };
            line.push(interval(&per_pair(own().map(|r| (pair(r), r.mean_return))), 1));
            line.push(interval(&per_pair(own().filter_map(|r| Some((pair(r), r.auroc?)))), 3));
        }
        table.line(line);
    }
    table
}

/// One line per measure: how well it tells what a policy still does.
fn by_class(rows: &[Judged], methods: &[Method], name: &str) -> Table {
    let heads = std::iter::once(name).chain(CLASSES.iter().map(|class| class.title));
    let mut table = Table::new(&heads.collect::<Vec<_>>());
    let counts = CLASSES.iter().map(|class| {
        let all: Vec<Of> = in_class(rows, methods, MAIN, class).map(of_row).collect();
        format!("{} of {}", all.len(), all.iter().collect::<BTreeSet<_>>().len())
    });
    table.line(std::iter::once("variants, of policies".to_string()).chain(counts).collect());
    for measure in offnominal_detectors::Measure::ALL.map(|m| m.id()) {
        let cells: Vec<String> =
            CLASSES.iter().map(|class| class_auroc(rows, methods, measure, class)).collect();
        if cells.iter().any(|cell| cell != "–") {
            table.line([vec![format!("`{measure}`")], cells].concat());
        }
    }
    table
}

/// The AUROC of a measure where policies still do so much.
fn class_auroc(rows: &[Judged], methods: &[Method], measure: &str, class: &Class) -> String {
    let own = in_class(rows, methods, measure, class);
    interval(&per_pair(own.filter_map(|r| Some((pair(r), r.auroc?)))), 3)
}

/// The rows in variants where the policy still does so much.
fn in_class<'a>(
    rows: &'a [Judged],
    methods: &'a [Method],
    measure: &'a str,
    class: &'a Class,
) -> impl Iterator<Item = &'a Judged> {
    let home: BTreeMap<Of, f64> = rows
        .iter()
        .filter(|r| r.env == "pong" && r.anomaly == "none")
        .map(|r| (of_row(r), r.mean_return))
        .collect();
    corrupted(rows, methods, measure)
        .filter(move |r| home.get(&of_row(r)).is_some_and(|&home| (class.holds)(home, r.mean_return)))
}

fn of_row(row: &Judged) -> Of {
    (row.method, row.trial)
}

fn pair(row: &Judged) -> (Of, &str) {
    (of_row(row), &row.anomaly)
}

/// The mean of the numbers of each policy under one kind of corruption.
fn per_pair<'a>(numbers: impl Iterator<Item = ((Of, &'a str), f64)>) -> Vec<f64> {
    let mut own: BTreeMap<(Of, &str), Vec<f64>> = BTreeMap::new();
    numbers.for_each(|(pair, number)| own.entry(pair).or_default().push(number));
    own.values().filter_map(|values| mean_sd(values)).map(|(mean, _)| mean).collect()
}

/// The mean over pairs of policy and corruption with Student's interval; only the mean of one.
fn interval(values: &[f64], decimals: usize) -> String {
    // Numbers with three decimals are shares.
    let shown = |v: f64| match decimals {
        3 => share(Some(v.clamp(0.0, 1.0))),
        _ => format!("{v:.decimals$}"),
    };
    match (values, student_t(values, Level::P95)) {
        ([], _) => "–".into(),
        (_, Ok(mean)) => format!("{} [{}, {}]", shown(mean.value), shown(mean.low), shown(mean.high)),
        (_, Err(_)) => mean_sd(values).map_or("–".into(), |(mean, _)| shown(mean)),
    }
}
