//! Tables 12 and 3: does the order of detectors agree with the published one?

use crate::suite::page::pick::Pick;
use crate::suite::page::{Column, Found, POLICY, estimate, table, table_of, two};
use crate::suite::published::{self, Grouped, Ranked};
use anyhow::Result;

/// The detectors of the paper, in the order of our tables.
const PAPER: [&str; 7] = ["knn", "isolation-forest", "ocsvm", "riqn", "mlp-dm", "lstm-dm", "pe-dm"];

/// What stands beside published figures and is not what they are of.
const CAUTIONS: [(&str, &str); 2] = [
    (
        "urr-reach",
        "Published figures are of a real robot; ours are of a simulated controller of such a robot.",
    ),
    (
        "car-lanekeep",
        "Published figures are of CARLA; ours are of a surrogate with the same observations and faults.",
    ),
];

pub(super) fn section(found: &Found) -> Result<String> {
    let published = published::ranked()?;
    let lines = Pick::anomalies(&found.rows, POLICY, &["auroc_matched", "auroc_local", "auroc_global"]);
    let mut agreement = Vec::new();
    let mut tables = String::new();
    for environment in &found.environments {
        let own = lines.env(&environment.env);
        let theirs: Vec<&Ranked> = published.iter().filter(|r| r.env == environment.env).collect();
        for strength in ["strong", "tiny"] {
            agreement.push(agree(&environment.env, strength, &own, &theirs));
        }
        let caution = CAUTIONS.iter().find(|(env, _)| *env == environment.env);
        let caution = caution.map_or(String::new(), |(_, why)| format!("{why}\n\n"));
        tables += &format!("\n### {}\n\n{caution}{}", environment.env, detail(found, &own, &theirs));
    }
    let head = ["environment", "strength", "order, published", "order, ours", "τ", "τ against matched"];
    Ok(format!(
        "## Table 12: the same order of detectors?\n\nLocal AUROC, means over anomalies. Orders from best to worst; τ is \
         Kendall's rank correlation of the seven detectors, 1 for the same order, and the last column is that of the \
         published local AUROC with our matched one. What differs has three causes that can be named. \
         The line `clock` below is what the passing of time alone earns in a protocol, so detectors whose scores rise \
         along an episode are flattered by the local one. Detectors deviate from the released code where their cards \
         say so. Networks learn from shuffled batches of steps, those of the released code from one episode after another; \
         their targets are changes in units of the change's own deviation, those of the released code in units of the \
         observation's: what these two amount to has not been measured. RIQN there learns in other units than it scores, and \
         constant channels are kept: what these two amount to is measured below, where it was run. And environments, \
         policies and calibrated magnitudes are our own.\n\n{}\n{}\n{tables}",
        table(&head, &agreement),
        families(&lines)?
    ))
}

/// Whether two orders of the detectors agree.
fn agree(env: &str, strength: &str, own: &Pick<'_>, theirs: &[&Ranked]) -> Vec<String> {
    let own = own.strength(strength);
    let ours = |metric: &'static str| move |own: &Pick<'_>, d: &str| mean(&own.detector(d), metric);
    let published = |d: &str| find(theirs, strength, d).map_or(f64::NAN, |r| r.auroc_local);
    let theirs: Vec<f64> = PAPER.iter().map(|d| published(d)).collect();
    let local: Vec<f64> = PAPER.iter().map(|d| ours("auroc_local")(&own, d)).collect();
    let matched: Vec<f64> = PAPER.iter().map(|d| ours("auroc_matched")(&own, d)).collect();
    vec![
        env.into(),
        strength.into(),
        ordered(&theirs),
        ordered(&local),
        kendall(&theirs, &local).map_or("–".into(), two),
        kendall(&theirs, &matched).map_or("–".into(), two),
    ]
}

fn mean(pick: &Pick<'_>, metric: &str) -> f64 {
    pick.mean(metric, "").map_or(f64::NAN, |e| e.value)
}

fn find<'a>(theirs: &[&'a Ranked], strength: &str, detector: &str) -> Option<&'a Ranked> {
    theirs.iter().copied().find(|r| r.strength == strength && r.detector == detector)
}

/// The detectors from best to worst; those without a number are left out.
fn ordered(values: &[f64]) -> String {
    let mut known: Vec<(&str, f64)> =
        PAPER.into_iter().zip(values.iter().copied()).filter(|(_, v)| !v.is_nan()).collect();
    known.sort_by(|a, b| b.1.total_cmp(&a.1));
    known.iter().map(|(d, _)| *d).collect::<Vec<_>>().join(", ")
}

/// Kendall's τ-b of the pairs in which both have a number; none where one side knows no order.
fn kendall(a: &[f64], b: &[f64]) -> Option<f64> {
    let known: Vec<(f64, f64)> =
        a.iter().copied().zip(b.iter().copied()).filter(|(x, y)| !x.is_nan() && !y.is_nan()).collect();
    let (mut sum, mut of_a, mut of_b) = (0.0, 0.0, 0.0);
    for (i, first) in known.iter().enumerate() {
        for second in &known[i + 1..] {
            let (x, y) = (sign(first.0 - second.0), sign(first.1 - second.1));
            sum += x * y;
            of_a += x * x;
            of_b += y * y;
        }
    }
    (of_a > 0.0 && of_b > 0.0).then(|| sum / f64::sqrt(of_a * of_b))
}

fn sign(x: f64) -> f64 {
    if x == 0.0 { 0.0 } else { x.signum() }
}

/// An environment row by row: every detector, published and ours.
fn detail(found: &Found, own: &Pick<'_>, theirs: &[&Ranked]) -> String {
    let row = |detector: &&str| {
        let mut cells = vec![format!("`{detector}`")];
        for strength in ["strong", "tiny"] {
            let (ours, published) =
                (own.strength(strength).detector(detector), find(theirs, strength, detector));
            let theirs = |of: fn(&Ranked) -> f64| published.map_or("–".into(), |r| two(of(r)));
            let own = |metric: &str| estimate(ours.mean(metric, ""));
            cells.push(format!("{} / {}", theirs(|r| r.auroc_local), own("auroc_local")));
            cells.push(format!("{} / {}", theirs(|r| r.auroc_global), own("auroc_global")));
            cells.push(own("auroc_matched"));
        }
        cells
    };
    let head = [
        "AUROC, published / ours",
        "strong local",
        "strong global",
        "strong matched",
        "tiny local",
        "tiny global",
        "tiny matched",
    ];
    let rows: Vec<_> = found.detectors().iter().map(row).collect();
    table(&head, &rows)
}

/// Table 3: PE-DM by family of environments and class of anomalies.
fn families(lines: &Pick<'_>) -> Result<String> {
    let own = |g: &Grouped| lines.only(|l| l.env.starts_with(&g.group) && l.anomaly_class == g.anomaly_class);
    let ours = |g: &Grouped, detector: &str, strength: &str, metric: &str| {
        estimate(own(g).detector(detector).strength(strength).mean(metric, ""))
    };
    let local = |g: &Grouped, theirs: f64, strength: &str| {
        format!("{} / {}", two(theirs), ours(g, "pe-dm", strength, "auroc_local"))
    };
    let matched = |g: &Grouped, strength: &str| {
        let of = |detector| ours(g, detector, strength, "auroc_matched");
        format!("{} / {}", of("pe-dm"), of("residual-views"))
    };
    let columns: [Column<'_, Grouped>; 6] = [
        ("environments", &|g| g.group.clone()),
        ("anomalies", &|g| g.anomaly_class.clone()),
        ("PE-DM local, tiny: published / ours", &|g| local(g, g.tiny, "tiny")),
        ("strong: published / ours", &|g| local(g, g.strong, "strong")),
        ("matched, tiny: PE-DM / `residual-views`", &|g| matched(g, "tiny")),
        ("strong: PE-DM / `residual-views`", &|g| matched(g, "strong")),
    ];
    let groups: Vec<Grouped> = published::grouped()?.into_iter().filter(|g| !own(g).0.is_empty()).collect();
    Ok(format!(
        "### Table 3: PE-DM by kind of anomaly\n\nThe rows `car` and `urr` are of a surrogate and of a simulated controller here.\n\n{}",
        table_of(&groups, &columns)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kendall_counts_pairs() {
        assert_eq!(kendall(&[1.0, 2.0, 3.0], &[10.0, 20.0, 30.0]), Some(1.0));
        assert_eq!(kendall(&[1.0, 2.0, 3.0], &[3.0, 2.0, 1.0]), Some(-1.0));
        // Two of three pairs agree, one does not.
        assert_eq!(kendall(&[1.0, 2.0, 3.0], &[1.0, 3.0, 2.0]), Some(1.0 / 3.0));
        assert_eq!(kendall(&[1.0, f64::NAN], &[1.0, 2.0]), None);
    }

    #[test]
    fn an_order_begins_with_the_best() {
        assert_eq!(
            ordered(&[0.5, f64::NAN, 0.7, 0.1, 0.2, 0.3, 0.9]),
            "pe-dm, ocsvm, knn, lstm-dm, mlp-dm, riqn"
        );
    }
}
