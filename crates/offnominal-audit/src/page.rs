//! The audit as one self-contained page.

use crate::advice::percent;
use crate::document::{Audit, Kind};
use crate::findings::{BASELINES, DetectorFound, Fault, FaultStrength, Noticed, Number, SizedFault};
use crate::plan::{Plan, duration};
use anyhow::Result;
use minijinja::Value;
use offnominal_engine::strengths::LEVELS;
use offnominal_files::provenance::Provenance;
use offnominal_report::number::plain;
use offnominal_report::page::{embedded, render};
use serde::Serialize;
use std::path::Path;

/// Name of the file in an audit's folder.
pub const FILE: &str = "audit.html";

/// What the template sees.
#[derive(Serialize)]
struct Page<'a> {
    audit: &'a Audit,
    tiles: Vec<Tile>,
    advice: Vec<Vec<(String, bool)>>,
    facts: Vec<(&'static str, String)>,
    levels: Vec<(&'static str, String)>,
    faults: Vec<Row<'a>>,
    channels: Vec<SizedRow<'a>>,
    in_deviations: Vec<SizedRow<'a>>,
    detectors: Vec<DetectorRow<'a>>,
    kinds: Vec<KindShown<'a>>,
    counted: String,
    swarms: Option<String>,
    pages: [(&'static str, &'static str); 2],
    plan: String,
    requirements: Vec<(String, String, bool)>,
    missing: Vec<(String, String)>,
    made: &'a Provenance,
}

/// A number that one remembers.
#[derive(Serialize)]
struct Tile {
    value: String,
    interval: String,
    what: String,
}

#[derive(Serialize)]
struct Row<'a> {
    fault: &'a Fault,
    cells: Vec<Cell>,
}

/// A fault at a strength: what its field says, and what its details say.
#[derive(Serialize)]
struct Cell {
    strength: String,
    noticed: &'static str,
    short: String,
    magnitude: String,
    costs: String,
    detected: String,
    auroc: String,
    delay: String,
}

#[derive(Serialize)]
struct SizedRow<'a> {
    name: &'a str,
    magnitude: &'a str,
    noticed: &'static str,
    detected: String,
    auroc: String,
}

#[derive(Serialize)]
struct DetectorRow<'a> {
    name: &'a str,
    is_baseline: bool,
    is_recommended: bool,
    numbers: Vec<[String; 2]>,
}

#[derive(Serialize)]
struct KindShown<'a> {
    kind: &'a Kind,
    share: String,
    video: Option<Value>,
}

/// The page; videos are read from the folder of the audit.
///
/// # Errors
/// If a video cannot be read, or the template cannot be filled, which is a mistake of ours.
pub fn page(audit: &Audit, plan: &Plan, folder: &Path) -> Result<String> {
    let recommended = audit.detectors.iter().find(|d| d.name == audit.choice.recommended);
    let content = Page {
        tiles: tiles(audit, recommended),
        advice: audit.advice.iter().map(|line| with_code(line)).collect(),
        facts: facts(audit, plan),
        levels: LEVELS.iter().map(|(name, target)| (*name, percent(1.0 - target))).collect(),
        faults: audit.faults.iter().map(Row::of).collect(),
        channels: audit.channels.iter().map(SizedRow::of).collect(),
        in_deviations: audit.in_deviations.iter().map(SizedRow::of).collect(),
        detectors: audit.detectors.iter().map(|d| DetectorRow::of(d, &audit.choice.recommended)).collect(),
        kinds: audit.failures.kinds.iter().map(|kind| KindShown::of(kind, folder)).collect::<Result<_>>()?,
        counted: audit.failures.counted.map_or("–".into(), |n| share(&n)),
        swarms: audit.failures.by_swarms.map(|n| share(&n)),
        pages: [
            ("benchmark/report.html", "every detector and fault"),
            ("failures/report.html", "the failures"),
        ],
        plan: plan.to_string(),
        requirements: audit.requirements.iter().map(|r| (r.requirement.clone(), r.shown(), r.met)).collect(),
        missing: missing(audit),
        made: &audit.made,
        audit,
    };
    render(&[("audit.html", include_str!("../templates/audit.html"))], content)
}

/// A sentence in parts; every second one stood between backticks and is code.
fn with_code(line: &str) -> Vec<(String, bool)> {
    line.split('`').enumerate().map(|(i, part)| (part.to_string(), i % 2 == 1)).collect()
}

fn tiles(audit: &Audit, recommended: Option<&DetectorFound>) -> Vec<Tile> {
    let tile = |what: &str, number: Option<Number>, show: fn(f64) -> String| Tile {
        value: number.map_or("–".into(), |n| show(n.value)),
        interval: number.map_or(String::new(), |n| format!("{} – {}", show(n.low), show(n.high))),
        what: what.into(),
    };
    let tried: Vec<&FaultStrength> =
        audit.faults.iter().flat_map(|f| &f.strengths).filter(|at| at.noticed != Noticed::NotTried).collect();
    let noticed = tried.iter().filter(|at| at.noticed == Noticed::Yes).count();
    let all = Tile {
        value: format!("{noticed} of {}", tried.len()),
        interval: String::new(),
        what: format!(
            "faults at a strength are noticed in more than half of the episodes; {} of {} faults that apply were tried",
            audit.faults_tried[0], audit.faults_tried[1]
        ),
    };
    vec![
        all,
        tile(
            "AUROC at the same steps, mean over faults; a clock has 0.5",
            recommended.and_then(|d| d.auroc_matched),
            two,
        ),
        tile("of nominal episodes have a false alarm", recommended.and_then(|d| d.false_alarm_rate), percent),
        tile("of undisturbed episodes end in failure", audit.failures.best(), percent),
    ]
}

/// Why strengths were not tried, each reason once, with its sentence.
fn missing(audit: &Audit) -> Vec<(String, String)> {
    let strengths = audit.faults.iter().flat_map(|fault| &fault.strengths);
    let mut reasons: Vec<(String, String)> =
        strengths.filter_map(|at| at.missing.clone().zip(at.because.clone())).collect();
    reasons.sort();
    reasons.dedup();
    reasons
}

fn facts(audit: &Audit, plan: &Plan) -> Vec<(&'static str, String)> {
    let policy = &audit.policy;
    let mut facts = vec![
        ("Environment", audit.env.clone()),
        (
            "Policy",
            format!("{} (SHA-256 {})", policy.name, policy.digest.get(..12).unwrap_or(&policy.digest)),
        ),
        (
            "Return",
            format!("{}; random policy {}", numbers(&policy.mean_return), plain(policy.random_return.value)),
        ),
        ("Failure", audit.failures.rule.clone()),
        ("Depth", format!("{}, planned for {}", plan.depth_choice(), duration(plan.secs()))),
        ("Detector", audit.choice.recommended.clone()),
    ];
    if let Some(success) = &policy.success {
        facts.insert(3, ("Success", share(success)));
    }
    facts
}

impl Row<'_> {
    fn of(fault: &Fault) -> Row<'_> {
        let cells = LEVELS
            .iter()
            .map(|(level, _)| Cell::of(level, fault.strengths.iter().find(|at| at.strength == *level)));
        Row { fault, cells: cells.collect() }
    }
}

impl Cell {
    fn of(level: &str, at: Option<&FaultStrength>) -> Cell {
        let share_of = |n: Option<Number>| n.map_or("–".into(), |n| share(&n));
        let Some(at) = at else { return Cell::empty(level, "not tried") };
        if let Some(why) = &at.missing {
            return Cell::empty(level, why);
        }
        Cell {
            strength: level.into(),
            noticed: word(at.noticed),
            short: at.detection_rate.map_or("–".into(), |n| percent(n.value)),
            magnitude: at.in_units.clone(),
            costs: at.costs.map_or("–".into(), |n| signed_share(&n)),
            detected: share_of(at.detection_rate),
            auroc: at.auroc_matched.map_or("–".into(), |n| interval(&n)),
            delay: at
                .delay_median
                .map_or("fewer than half are noticed".into(), |d| format!("{} steps", plain(d))),
        }
    }

    fn empty(level: &str, why: &str) -> Cell {
        let [short, magnitude] = ["–", why].map(String::from);
        let [costs, detected, auroc, delay] = ["", "", "", ""].map(String::from);
        let noticed = word(Noticed::NotTried);
        Cell { strength: level.into(), noticed, short, magnitude, costs, detected, auroc, delay }
    }
}

impl SizedRow<'_> {
    fn of(found: &SizedFault) -> SizedRow<'_> {
        SizedRow {
            name: &found.name,
            magnitude: &found.magnitude,
            noticed: word(found.noticed),
            detected: found.detection_rate.map_or("–".into(), |n| share(&n)),
            auroc: found.auroc_matched.map_or("–".into(), |n| interval(&n)),
        }
    }
}

impl DetectorRow<'_> {
    fn of<'a>(found: &'a DetectorFound, recommended: &str) -> DetectorRow<'a> {
        let area =
            |n: Option<Number>| n.map_or(["–".into(), String::new()], |n| [two(n.value), ends(&n, two)]);
        let rate = |n: Option<Number>| {
            n.map_or(["–".into(), String::new()], |n| [percent(n.value), ends(&n, percent)])
        };
        DetectorRow {
            name: &found.name,
            is_baseline: BASELINES.contains(&found.name.as_str()),
            is_recommended: found.name == recommended,
            numbers: vec![
                area(found.auroc_matched),
                area(found.at.get(LEVELS[0].0).copied()),
                area(found.behind),
                rate(found.within_20),
                rate(found.false_alarm_rate),
                area(found.control),
                area(found.of_nothing),
            ],
        }
    }
}

impl KindShown<'_> {
    fn of<'a>(kind: &'a Kind, folder: &Path) -> Result<KindShown<'a>> {
        let video =
            kind.video.as_ref().map(|path| offnominal_files::read::bytes(&folder.join(path))).transpose()?;
        Ok(KindShown { kind, share: percent(kind.mass), video: video.map(|bytes| embedded("gif", &bytes)) })
    }
}

/// The class of a field.
fn word(noticed: Noticed) -> &'static str {
    match noticed {
        Noticed::Yes => "yes",
        Noticed::No => "no",
        Noticed::Uncertain => "uncertain",
        Noticed::NotTried => "none",
    }
}

fn two(x: f64) -> String {
    format!("{x:.2}")
}

fn ends(n: &Number, show: fn(f64) -> String) -> String {
    format!("{} – {}", show(n.low), show(n.high))
}

fn share(n: &Number) -> String {
    format!("{} [{}]", percent(n.value), ends(n, percent))
}

/// A share that may be below zero: a fault that is too weak to cost anything may seem to help.
fn signed_share(n: &Number) -> String {
    let percent = |x: f64| format!("{:.1} %", 100.0 * x);
    format!("{} [{}]", percent(n.value), ends(n, percent))
}

fn interval(n: &Number) -> String {
    format!("{} [{}]", two(n.value), ends(n, two))
}

fn numbers(n: &Number) -> String {
    format!("{} [{}]", plain(n.value), ends(n, plain))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::sample;
    use crate::plan::tests_plan;

    #[test]
    fn the_page_says_what_is_noticed_and_what_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let mut audit = sample();
        audit.advice = crate::advice::of(&audit);
        let page = page(&audit, &tests_plan(), folder.path()).unwrap();
        for text in
            ["obs-stuck", "Blind spots", "1 of 4", "class=\"no\"", "0.2 m", "every detector and fault"]
        {
            assert!(page.contains(text), "{text} is missing");
        }
    }
}
