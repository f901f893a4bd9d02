//! Policies at parts of their training: whether less settled ones differ more from trial to trial.

use super::text::SETTLED;
use crate::ood_rl::Method;
use crate::ood_rl::published::{self, Published};
use crate::ood_rl::table::{Table, mean_sd, share, spread};
use offnominal_files::table;
use serde::Deserialize;
use std::path::Path;

/// A policy at some quarters of its training, as `agents/ood-rl/settled.py` writes it.
#[derive(Debug, Deserialize)]
struct Line {
    env: String,
    #[serde(rename = "method")]
    _method: String,
    #[serde(rename = "trial")]
    _trial: u32,
    quarters: u32,
    #[serde(rename = "return")]
    points: f64,
    variants_failed: u32,
    /// Nothing where the policy fails in no variant.
    auroc: Option<f64>,
}

/// The section.
pub(super) fn settled() -> String {
    let bytes = include_bytes!("../../../../../agents/ood-rl/settled.csv");
    let lines: Vec<Line> = table::from_csv(bytes, Path::new("settled.csv"))
        .expect("the file that travels with the program is sound");
    let mut table =
        Table::new(&["environment, part of the training", "trials", "return", "variants failed", "AUROC"]);
    for group in lines.chunk_by(|a, b| a.env == b.env && a.quarters == b.quarters) {
        let numbers = |of: fn(&Line) -> f64| group.iter().map(of).collect::<Vec<_>>();
        let failed =
            mean_sd(&numbers(|line| f64::from(line.variants_failed))).map_or(f64::NAN, |(mean, _)| mean);
        let (points, sd) = mean_sd(&numbers(|line| line.points)).unwrap_or_default();
        let aurocs: Vec<f64> = group.iter().filter_map(|line| line.auroc).collect();
        table.line(vec![
            format!("{}, {} %", group[0].env, 25 * group[0].quarters),
            group.len().to_string(),
            format!("{points:.1} ± {sd:.1}"),
            format!("{failed:.1}"),
            spread(&aurocs),
        ]);
    }
    let ours = lines.chunk_by(|a, b| a.env == b.env && a.quarters == b.quarters);
    let ours = ours.filter_map(|group| deviation(&group.iter().filter_map(|l| l.auroc).collect::<Vec<_>>()));
    let own = |column: &Vec<Published>| {
        column[0].method == Method::Dropout && lines.iter().any(|line| line.env == column[0].env)
    };
    let theirs = published::columns().into_iter().filter(own);
    let theirs = theirs.filter_map(|c| deviation(&c.iter().map(|p| p.auroc).collect::<Vec<_>>()));
    format!(
        "{SETTLED}\n{}\nOur deviations over trials are {}, those of the publication's variants with MC-Dropout in these environments {}.\n",
        table.markdown(),
        range(ours),
        range(theirs)
    )
}

/// The sample standard deviation of at least two.
fn deviation(values: &[f64]) -> Option<f64> {
    mean_sd(values).filter(|_| values.len() > 1).map(|(_, sd)| sd)
}

/// From the smallest to the largest, in words.
fn range(values: impl Iterator<Item = f64>) -> String {
    let values: Vec<f64> = values.collect();
    let [least, most] = [f64::min, f64::max].map(|of| share(values.iter().copied().reduce(of)));
    format!("{least} to {most}")
}
