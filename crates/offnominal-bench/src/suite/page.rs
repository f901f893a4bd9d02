//! The page of the suite `vector`: our figures beside those of Anomaly-Gym, made of whatever environments are there.

pub(super) mod coverage;
mod diagnosis;
pub(super) mod figures;
pub(super) mod gain;
mod noise;
mod order;
mod overview;
mod parts;
pub(super) mod pick;
mod policies;
mod regret;
mod timing;
mod variants;

use crate::suite::{Environment, Row, Suite};
use anyhow::{Result, ensure};
use offnominal_report::markdown::{self, Align};
use std::collections::BTreeSet;
use std::path::Path;

/// The environments in which the composition of the detector `residual-views` was chosen (`campaigns/detectors-choice.toml`),
const CHOICE: [&str; 4] = ["sap-goal0", "sap-goal1", "mjc-cartpole-swingup", "urm-pnp"];
/// and those with the same bodies, of which the choice tells something too.
const SIBLINGS: [&str; 3] = ["sap-goal2", "urm-reach", "urr-reach"];

/// Whether the choice knew nothing of an environment.
fn is_held_out(env: &str) -> bool {
    !CHOICE.contains(&env) && !SIBLINGS.contains(&env)
}

/// The policy of the main tables.
pub(super) const POLICY: &str = "tqc";

/// Everything that the page is made of.
pub(super) struct Found {
    pub environments: Vec<Environment>,
    pub missing: Vec<String>,
    pub rows: Vec<Row>,
}

/// The page as Markdown.
///
/// # Errors
/// If no environment of the suite is in the folder, or a file there is damaged.
pub fn page(suite: &Suite, out: &Path) -> Result<String> {
    let found = Found::load(suite, out)?;
    let sections = [
        head(suite, &found),
        overview::section(&found),
        figures::section(),
        gain::section(&found),
        regret::section(&found),
        parts::section(&found),
        noise::section(suite, &found, out)?,
        order::section(&found)?,
        variants::section(out)?,
        timing::section(&found)?,
        policies::section(&found)?,
        diagnosis::section(&found),
        coverage::section(&found),
    ];
    Ok(sections.into_iter().filter(|s| !s.is_empty()).collect::<Vec<_>>().join("\n"))
}

impl Found {
    /// The results in a folder at a level of noise, as far as they are there.
    pub fn at(suite: &Suite, out: &Path, level: Option<&str>) -> Result<Found> {
        let mut found = Found { environments: vec![], missing: vec![], rows: vec![] };
        for env in suite.environments()? {
            let id = offnominal_engine::noise::id(&env, level);
            match Environment::load(out, &id)? {
                None => found.missing.push(id),
                Some(environment) => {
                    found.rows.extend(environment.rows(out)?);
                    found.environments.push(environment);
                }
            }
        }
        Ok(found)
    }

    pub fn load(suite: &Suite, out: &Path) -> Result<Found> {
        let found = Found::at(suite, out, None)?;
        ensure!(
            !found.environments.is_empty(),
            "expected results of an environment of suite {} in {}, found none; `offnominal bench --suite {} --out {}` makes them",
            suite.id,
            out.display(),
            suite.id,
            out.display()
        );
        Ok(found)
    }

    /// The detectors, in the order of the campaigns.
    pub fn detectors(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for name in self.environments.iter().flat_map(|w| &w.detectors) {
            if !names.contains(&&**name) {
                names.push(name);
            }
        }
        names
    }

    /// Those of them that were run in every environment, so that their means are over the same cells.
    pub fn detectors_everywhere(&self) -> Vec<&str> {
        let is_everywhere =
            |name: &&str| self.environments.iter().all(|w| w.detectors.iter().any(|d| d == name));
        self.detectors().into_iter().filter(is_everywhere).collect()
    }
}

/// A sentence that names detectors which a table leaves out, because they were not run in every environment.
pub(super) fn left_out(found: &Found) -> String {
    let everywhere = found.detectors_everywhere();
    let some: Vec<String> =
        found.detectors().into_iter().filter(|d| !everywhere.contains(d)).map(|d| format!("`{d}`")).collect();
    if some.is_empty() {
        return String::new();
    }
    format!(" Not in the table, because not run in every environment: {}.", some.join(", "))
}

fn head(suite: &Suite, found: &Found) -> String {
    let there: Vec<&str> = found.environments.iter().map(|w| &*w.env).collect();
    let (done, asked) = cells(found);
    format!(
        "# The vector benchmark\n\n\
         Written by `offnominal bench --suite {} --page FILE` from the tables of the environments; do not edit.\n\n\
         Fifteen anomalies, in particle environments seventeen, at four calibrated strengths in {} of {} environments: {}.{}\n\
         {done} of {asked} cells of environment, anomaly and strength were run: in the others no magnitude has that strength, or \
         none was known ([strengths](strengths.md)).\n\
         Numbers in brackets are 95 % intervals; anomalies of an environment count as one unit.\n\
         Published figures are those of Anomaly-Gym, whose environments, policies and strengths differ from ours in what their \
         cards say: compare orders, not digits.\n\n\
         ```sh no-run: takes hours\n{}\n```\n",
        suite.id,
        there.len(),
        there.len() + found.missing.len(),
        quoted(&there),
        lacking(found),
        commands(found)
    )
}

/// How many cells of the main policy were run, and how many there are: those without a known magnitude are empty.
fn cells(found: &Found) -> (usize, usize) {
    let own = || found.rows.iter().filter(|row| row.policy == POLICY && row.anomaly_class != "none");
    let distinct = |rows: Vec<&Row>| {
        let cells = rows.into_iter().map(|row| [&*row.env, &row.anomaly, &row.strength]);
        cells.collect::<BTreeSet<[&str; 3]>>().len()
    };
    (distinct(own().filter(|row| row.magnitude.is_finite()).collect()), distinct(own().collect()))
}

fn quoted(ids: &[impl AsRef<str>]) -> String {
    ids.iter().map(|id| format!("`{}`", id.as_ref())).collect::<Vec<_>>().join(", ")
}

/// Sentences that name environments without results, and what is missing in those that have some.
pub(super) fn lacking(found: &Found) -> String {
    let missing = match &found.missing[..] {
        [] => String::new(),
        ids => format!("\nNot run yet, or without a policy or strengths: {}.", quoted(ids)),
    };
    let lacks = found.environments.iter().filter(|w| !w.missing.is_empty());
    let lacks = lacks.map(|w| format!("\nIn {} there is no {}.", w.env, w.missing.join(" and no ")));
    std::iter::once(missing).chain(lacks).collect()
}

/// The commands that made the results, one a line.
pub(super) fn commands(found: &Found) -> String {
    found.environments.iter().map(|w| &*w.made.command).collect::<Vec<_>>().join("\n")
}

/// A table of text.
pub(super) fn table(head: &[&str], rows: &[Vec<String>]) -> String {
    markdown::table(Align::Left, head, rows)
}

/// A column: its title, and what stands in it for an item.
pub(super) type Column<'a, T> = (&'a str, &'a dyn Fn(&T) -> String);

/// A table with a row per item.
pub(super) fn table_of<T>(items: &[T], columns: &[Column<'_, T>]) -> String {
    let head: Vec<&str> = columns.iter().map(|(title, _)| *title).collect();
    let row = |item: &T| -> Vec<String> { columns.iter().map(|(_, cell)| cell(item)).collect() };
    let rows: Vec<Vec<String>> = items.iter().map(row).collect();
    table(&head, &rows)
}

/// Two decimals, as the published tables have them.
pub(super) fn two(value: f64) -> String {
    match value {
        v if v.is_nan() => "–".into(),
        v if v.is_infinite() => "∞".into(),
        v => format!("{v:.2}"),
    }
}

pub(super) fn estimate(found: Option<offnominal_core::estimate::Estimate>) -> String {
    found.map_or("–".into(), |e| format!("{} [{}, {}]", two(e.value), two(e.low), two(e.high)))
}

#[cfg(test)]
pub(super) mod tests;
