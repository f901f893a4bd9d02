//! Table 12, measured: what detectors owe to habits of the released code, which parameters of theirs switch on.
//!
//! The tables are those of two campaigns in `campaigns/`, kept in the folder `variants` beside those of the environments.

use crate::report::aggregate;
use crate::results;
use crate::suite::Row;
use crate::suite::page::gain::signed;
use crate::suite::page::pick::Pick;
use crate::suite::page::{Column, POLICY, estimate, table_of, two};
use crate::suite::published::{self, Ranked};
use crate::suite::table::averaged;
use anyhow::Result;
use offnominal_detectors::Training;
use offnominal_files::table;
use std::path::Path;

/// The folder of the tables, and their names.
const FOLDER: &str = "variants";
const RIQN: &str = "published-riqn";
const CONSTANT: &str = "published-constant";
/// Epochs of `mlp-dm` in the latter, in each of its two forms.
pub(super) const CONSTANT_EPOCHS: usize = 25;

/// The metrics of the section: the published one, and the one that no clock fools.
const LOCAL: &str = "auroc_local";
const MATCHED: &str = "auroc_matched";
const STRENGTHS: [&str; 2] = ["strong", "tiny"];

/// The variants of RIQN, with what is as published in them.
const OF_RIQN: [(&str, &str); 3] =
    [("riqn(scaling)", "scaling"), ("riqn(sequence)", "sequence"), ("riqn(both)", "both")];

/// The section; nothing, where neither campaign has left a table.
pub(super) fn section(out: &Path) -> Result<String> {
    let published = published::ranked()?;
    let (riqn, constant) = (rows(out, RIQN)?, rows(out, CONSTANT)?);
    let parts: Vec<String> = [(riqn, of_riqn as Part), (constant, of_constant)]
        .into_iter()
        .filter_map(|(rows, part)| Some(part(&rows?, &published)))
        .collect();
    Ok(if parts.is_empty() { String::new() } else { format!("{HEAD}{}", parts.join("\n")) })
}

type Part = fn(&[Row], &[Ranked]) -> String;

const HEAD: &str = "### What the released code does otherwise, measured\n\nParameters of our detectors do as that code does. Everything \
     else is the same: episodes, faults, seeds. Differences are taken anomaly by anomaly at the same strength; intervals treat the \
     anomalies of an environment as one unit each.\n\n";

/// The table that a campaign left, if it is there, environment by environment.
fn rows(out: &Path, name: &str) -> Result<Option<Vec<Row>>> {
    let Ok(path) = table::find(&out.join(FOLDER), name) else { return Ok(None) };
    let rows: Vec<results::Row> = table::read(&path)?;
    let of_env = rows.chunk_by(|a, b| a.env == b.env).flat_map(averaged);
    Ok(Some(of_env.collect()))
}

fn of_riqn(rows: &[Row], published: &[Ranked]) -> String {
    let all = Pick::anomalies(rows, POLICY, &[LOCAL, MATCHED]);
    let cells = cells(&all);
    let theirs = |(env, strength): &(&str, &str)| {
        let found =
            published.iter().find(|r| r.env == *env && r.strength == *strength && r.detector == "riqn");
        found.map_or("–".into(), |r| two(r.auroc_local))
    };
    let own = |(env, strength): &(&str, &str), detector: &str| {
        estimate(all.env(env).strength(strength).detector(detector).mean(LOCAL, ""))
    };
    let columns: [Column<'_, (&str, &str)>; 8] = [
        ("environment", &|(env, _)| env.to_string()),
        ("strength", &|(_, strength)| strength.to_string()),
        ("published", &theirs),
        ("`riqn`", &|cell| own(cell, "riqn")),
        ("scaling", &|cell| own(cell, OF_RIQN[0].0)),
        ("sequence", &|cell| own(cell, OF_RIQN[1].0)),
        ("both", &|cell| own(cell, OF_RIQN[2].0)),
        ("`clock`", &|cell| own(cell, "clock")),
    ];
    format!(
        "**RIQN.** The released code learns from values between 0 and 1 and scores standardised ones (`scaling = \"published\"`). As \
         we read it, it also learns from the first episode alone, whose channels it takes one after another as if they were steps \
         (`sequence = \"channels\"`). Local AUROC, means over anomalies:\n\n{}\n{}\n\n{}\n```sh no-run: takes a quarter of an hour\n\
         offnominal bench campaigns/{RIQN}.toml --jobs 1 --out runs/{RIQN}\n```\n",
        table_of(&cells, &columns),
        distances(&all, &cells, published),
        differences(&all, &OF_RIQN.map(|(variant, what)| ("riqn", variant, what.to_string()))),
    )
}

/// How far the published figures are from each variant.
fn distances(all: &Pick<'_>, cells: &[(&str, &str)], published: &[Ranked]) -> String {
    let distance = |detector: &str| {
        let one = |&(env, strength): &(&str, &str)| {
            let theirs =
                published.iter().find(|r| r.env == env && r.strength == strength && r.detector == "riqn")?;
            let ours = all.env(env).strength(strength).detector(detector).mean(LOCAL, "")?;
            Some((theirs.auroc_local - ours.value).abs())
        };
        let found: Vec<f64> = cells.iter().filter_map(one).collect();
        two(found.iter().sum::<f64>() / found.len() as f64)
    };
    let told = OF_RIQN.map(|(variant, what)| format!("{} with {what}", distance(variant)));
    format!("The published figures are {} from our `riqn` on average, {}.", distance("riqn"), told.join(", "))
}

fn of_constant(rows: &[Row], _: &[Ranked]) -> String {
    let all = Pick::anomalies(rows, POLICY, &[LOCAL, MATCHED]);
    let mut pairs = Vec::new();
    for row in &all.0 {
        let Some(plain) = row.detector.strip_suffix("(constant)") else { continue };
        if !pairs.iter().any(|(known, _, _)| *known == plain) {
            pairs.push((plain, row.detector.as_str(), format!("`{plain}`")));
        }
    }
    format!(
        "**Constant channels.** The released code keeps a channel that never varies in training, and divides by 10⁻⁶ \
         (`keep_constant_channels = true`). Environments of ours leave out what is always constant, so only `car-lanekeep` has such a \
         channel, its target speed; there the change is that of faults of sensors, which reach it. So that the campaign is cheap, \
         `mlp-dm` is trained for {CONSTANT_EPOCHS} epochs here, with and without the channel, in place of the {} of its default: its \
         figures are not those of the other tables.\n\n{}\n```sh no-run: takes a quarter \
         of an hour\noffnominal bench campaigns/{CONSTANT}.toml --jobs 1 --out runs/{CONSTANT}\n```\n",
        Training::default().epochs,
        differences(&all, &pairs)
    )
}

/// What variants have more than the detector as it is, by strength and by kind of fault.
fn differences(all: &Pick<'_>, pairs: &[(&str, &str, String)]) -> String {
    let change = |pair: &(&str, &str, String), metric: &str, keep: fn(&Row) -> bool| {
        let part = all.only(keep);
        let points = part.detector(pair.1).against(&part.detector(pair.0), (metric, ""), |a, b| a - b);
        signed(aggregate::mean(&points, (-1.0, 1.0)))
    };
    let columns: [Column<'_, (&str, &str, String)>; 6] = [
        ("change of AUROC", &|(_, _, what)| what.clone()),
        ("local, strong", &|pair| change(pair, LOCAL, |r| r.strength == STRENGTHS[0])),
        ("local, tiny", &|pair| change(pair, LOCAL, |r| r.strength == STRENGTHS[1])),
        ("matched, faults of sensors", &|pair| change(pair, MATCHED, |r| r.anomaly_class == "observation")),
        ("matched, others", &|pair| change(pair, MATCHED, |r| r.anomaly_class != "observation")),
        ("matched, all", &|pair| change(pair, MATCHED, |_| true)),
    ];
    table_of(pairs, &columns)
}

/// The environments and strengths that are there.
fn cells<'a>(all: &Pick<'a>) -> Vec<(&'a str, &'static str)> {
    let mut envs: Vec<&str> = Vec::new();
    for row in &all.0 {
        if !envs.contains(&&*row.env) {
            envs.push(&row.env);
        }
    }
    envs.into_iter().flat_map(|env| STRENGTHS.map(|strength| (env, strength))).collect()
}
