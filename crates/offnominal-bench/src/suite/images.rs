//! The page of the suite `images`: our figures beside Table 13 of Anomaly-Gym, made of whatever environments are there.

use crate::report::aggregate;
use crate::suite::page::gain::signed;
use crate::suite::page::pick::Pick;
use crate::suite::page::{Column, Found, estimate, table, table_of, two};
use crate::suite::{Environment, Suite, published};
use anyhow::Result;
use std::collections::BTreeMap;
use std::path::Path;

/// The policy of the tables.
const POLICY: &str = "tqc";

/// Our default.
const OURS: &str = "patch-fusion";

/// What made each detector: its features or its preset, in words.
const MADE: &[(&str, &str)] = &[
    ("clock", "baseline"),
    ("random", "baseline"),
    ("knn-efficientnet", "EfficientNet-Lite0, public weights"),
    ("efficientnet-dynamics", "ours, on EfficientNet-Lite0, public weights"),
    ("frame-knn-own", "our encoder of patches, self-supervised"),
    ("patch-knn-own", "our encoder of patches, self-supervised"),
    ("patch-dynamics", "ours, on our encoder of patches"),
    ("patch-fusion", "ours, on our encoder of patches"),
    ("knn-resnet", "ResNet-18, public weights"),
    ("dino-patch", "ViT-S/16, public weights"),
    ("clip-sim", "CLIP ViT-B/32, public weights"),
    ("pred-ae", "preset small"),
    ("prednet", "preset small"),
    ("ldm", "preset small"),
    ("lrdm", "preset small"),
    ("rssm-ppm", "preset small"),
];

/// The page as Markdown.
///
/// # Errors
/// If no environment of the suite is in the folder, or a file there is damaged.
pub(super) fn page(suite: &Suite, out: &Path) -> Result<String> {
    let found = Found::load(suite, out)?;
    Ok([head(suite, &found), overview(&found), classes(&found), differences(&found), environments(&found)?]
        .join("\n"))
}

fn made(detector: &str) -> &'static str {
    MADE.iter().find(|(id, _)| *id == detector).map_or("as the campaign says", |(_, made)| made)
}

fn head(suite: &Suite, found: &Found) -> String {
    let line = |w: &Environment| format!("{}\n", w.made.command);
    let commands: String = found.environments.iter().map(line).collect();
    let hardware = alike(&found.environments, |w| w.hardware.clone());
    let hardware: String = hardware.iter().map(|(by, envs)| format!("\n{envs}: {by}.")).collect();
    let lacks = alike(&found.environments, |w| w.missing.join("; no "));
    let lacks = lacks.iter().filter(|(what, _)| !what.is_empty());
    let lacks: String = lacks.map(|(what, envs)| format!("\nIn {envs} there is no {what}.")).collect();
    let missing = match &found.missing[..] {
        [] => String::new(),
        ids => format!("\nNot run yet: {}.", ids.join(", ")),
    };
    format!(
        "# The image benchmark\n\n\
         Written by `offnominal bench --suite {} --page FILE` from the tables of the environments; do not edit.\n\n\
         Detectors see what the environment's first camera sees, not what the policy reads. Fifteen anomalies of the policy's \
         signals and of the environment, and nine camera faults, at two strengths.{missing}{lacks}\n\
         Numbers in brackets are 95 % intervals; anomalies of an environment count as one unit.\n\
         Published figures are those of Anomaly-Gym, whose environments, policies, images and strengths differ from ours: \
         compare orders, not digits.\n{hardware}\n\n```sh no-run: takes hours\n{commands}```\n",
        suite.id
    )
}

/// What is the same in several environments, with the names of these.
fn alike(environments: &[Environment], of: impl Fn(&Environment) -> String) -> BTreeMap<String, String> {
    let mut found: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    environments
        .iter()
        .for_each(|environment| found.entry(of(environment)).or_default().push(&environment.env));
    found.into_iter().map(|(what, envs)| (what, envs.join(", "))).collect()
}

/// In how many environments a detector was run.
fn ran_in(found: &Found, detector: &str) -> String {
    found.environments.iter().filter(|w| w.detectors.iter().any(|d| d == detector)).count().to_string()
}

fn overview(found: &Found) -> String {
    let lines = Pick::anomalies(&found.rows, POLICY, &["auroc_matched", "auroc_local", "auroc_global"]);
    let without = lines.only(|l| l.anomaly_class != "camera");
    let control = Pick::control(&found.rows, POLICY, &["auroc_matched", "false_alarm_rate"]);
    let own = |d: &str| without.detector(d);
    let matched = |pick: Pick<'_>| estimate(pick.mean("auroc_matched", ""));
    let columns: [Column<'_, &str>; 10] = [
        ("detector", &|d| format!("`{d}`")),
        ("made with", &|d| made(d).to_string()),
        ("environments", &|d| ran_in(found, d)),
        ("AUROC matched, tiny", &|d| matched(own(d).strength("tiny"))),
        ("AUROC matched, strong", &|d| matched(own(d).strength("strong"))),
        ("AUROC local", &|d| estimate(own(d).mean("auroc_local", ""))),
        ("AUROC global", &|d| estimate(own(d).mean("auroc_global", ""))),
        ("AUROC matched, camera", &|d| matched(lines.detector(d).only(|l| l.anomaly_class == "camera"))),
        ("control", &|d| matched(control.detector(d))),
        ("false alarms", &|d| estimate(control.detector(d).mean("false_alarm_rate", "conformal"))),
    ];
    format!(
        "## All environments\n\nMeans over the paper's anomalies, and in a column of their own over camera faults, which \
         the paper does not have. The control must be one half. Rows of different environments say little about one another; the \
         differences further down do.\n\n{}",
        table_of(&found.detectors(), &columns)
    )
}

/// What is seen of which class of anomalies.
fn classes(found: &Found) -> String {
    const CLASSES: [&str; 4] = ["observation", "action", "dynamics", "camera"];
    let lines = Pick::anomalies(&found.rows, POLICY, &["auroc_matched"]);
    let row = |detector: &&str| {
        let own = lines.detector(detector);
        let of = |class: &&str| estimate(own.only(|l| l.anomaly_class == *class).mean("auroc_matched", ""));
        std::iter::once(format!("`{detector}`")).chain(CLASSES.iter().map(of)).collect::<Vec<_>>()
    };
    let head: Vec<&str> = std::iter::once("detector").chain(CLASSES).collect();
    let rows: Vec<_> = found.detectors().iter().map(row).collect();
    format!("## By class\n\nMatched AUROC.\n\n{}", table(&head, &rows))
}

/// By how much our default is ahead of every other detector in the same cells.
fn differences(found: &Found) -> String {
    let lines = Pick::anomalies(&found.rows, POLICY, &["auroc_matched"]);
    let ours = lines.detector(OURS);
    let difference = |detector: &str, part: Pick<'_>| {
        let theirs = lines.detector(detector);
        let points = part.against(&theirs, ("auroc_matched", ""), |a, b| a - b);
        signed(aggregate::mean(&points, (-1.0, 1.0)))
    };
    let camera = |is: bool| ours.only(|l| (l.anomaly_class == "camera") == is);
    let columns: [Column<'_, &str>; 5] = [
        ("over", &|d| format!("`{d}`")),
        ("environments", &|d| ran_in(found, d)),
        ("all", &|d| difference(d, ours.clone())),
        ("the paper's anomalies", &|d| difference(d, camera(false))),
        ("camera", &|d| difference(d, camera(true))),
    ];
    let others: Vec<&str> = found.detectors().into_iter().filter(|d| *d != OURS).collect();
    format!(
        "## `{OURS}` against the others\n\nDifference of the matched AUROC in the same environment, anomaly and strength, over the environments \
         in which both were run.\n\n{}",
        table_of(&others, &columns)
    )
}

/// One table per environment, with the published figures.
fn environments(found: &Found) -> Result<String> {
    let published = published::shown()?;
    let lines = Pick::anomalies(&found.rows, POLICY, &["auroc_matched", "auroc_local", "auroc_global"])
        .only(|l| l.anomaly_class != "camera");
    let mut out = String::from(
        "## Beside Table 13\n\nMeans over the paper's anomalies. The paper's rows for sap-goal1 at tiny and some of sap-goal2 \
         at strong are not in the text of its table.\n",
    );
    for environment in &found.environments {
        let own = lines.env(&environment.env);
        let mut names: Vec<&str> = environment.detectors.iter().map(String::as_str).collect();
        let theirs = published.iter().filter(|p| p.env == environment.env);
        names.extend(theirs.map(|p| &*p.detector).filter(|d| !environment.detectors.iter().any(|o| o == d)));
        let mut seen = std::collections::HashSet::new();
        names.retain(|name| seen.insert(*name));
        let row = |detector: &&str| {
            let mut cells = vec![format!("`{detector}`")];
            for strength in ["tiny", "strong"] {
                let mine = own.detector(detector).strength(strength);
                let paper = published.iter().find(|p| {
                    (&*p.env, &*p.strength, &*p.detector) == (&*environment.env, strength, detector)
                });
                cells.push(estimate(mine.mean("auroc_matched", "")));
                cells.push(estimate(mine.mean("auroc_local", "")));
                cells.push(paper.map_or("–".into(), |p| two(p.auroc_local)));
            }
            cells
        };
        let head = [
            "detector",
            "tiny: matched",
            "tiny: local",
            "tiny: local, paper",
            "strong: matched",
            "strong: local",
            "strong: local, paper",
        ];
        let rows: Vec<_> = names.iter().map(row).collect();
        out += &format!("\n### {}\n\n{}", environment.env, table(&head, &rows));
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_detector_of_the_suite_says_what_made_it() {
        for (campaign, _) in Suite::find("images").unwrap().campaigns(None).unwrap() {
            assert!(campaign.detectors.iter().all(|d| MADE.iter().any(|(id, _)| *id == d.name())));
        }
    }

    #[test]
    fn its_campaigns_differ_in_environments_sizes_and_counts_only() {
        let campaigns = Suite::find("images").unwrap().campaigns(None).unwrap();
        let [(short, _), (long, _), (car, _)] = &campaigns[..] else { panic!("three campaigns") };
        for other in [long, car] {
            assert_eq!((&short.detectors, &short.anomalies), (&other.detectors, &other.anomalies));
            assert_eq!((&short.strengths, short.seed), (&other.strengths, other.seed));
        }
        assert_eq!((short.images, car.images), (Some(128), Some(256)));
    }
}
