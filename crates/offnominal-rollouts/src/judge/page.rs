//! The page: which protocol leaks how much time, then each split with areas, alarms and curves.

use super::document::{DetectorResult, Judged, SectionResult};
use anyhow::Result;
use minijinja::Value;
use offnominal_core::estimate::Estimate;
use offnominal_files::provenance::Provenance;
use offnominal_report::axis::Axis;
use offnominal_report::colour::Pen;
use offnominal_report::page;
use offnominal_report::plot::{Level, Line, Plot};
use serde::Serialize;

/// Lines of a chart; more cannot be told apart.
const MOST_LINES: usize = 8;

#[derive(Serialize)]
struct Page<'a> {
    made: &'a Provenance,
    facts: Vec<(&'static str, String)>,
    tasks: Vec<[String; 6]>,
    remarks: &'a [String],
    leaks: Vec<Leak>,
    sections: Vec<Shown<'a>>,
    alpha: String,
}

/// What a protocol gives to rows that know nothing of the policy.
#[derive(Serialize)]
struct Leak {
    split: String,
    rows: Vec<(String, Vec<String>)>,
}

#[derive(Serialize)]
struct Shown<'a> {
    split: &'a str,
    facts: Vec<(&'static str, String)>,
    landmark: Vec<(&'a str, Vec<String>)>,
    versus: Option<&'a str>,
    protocols: Vec<&'a str>,
    by_protocol: Vec<(&'a str, Vec<String>)>,
    early: Vec<(&'a str, Vec<String>)>,
    incident: Vec<(&'a str, Vec<String>)>,
    probabilities: Vec<(&'a str, Vec<String>)>,
    promises: Vec<(&'a str, Vec<String>)>,
    charts: Vec<Value>,
}

/// The page: one file without links to anything that a reader may not have.
pub(super) fn render(found: &Judged) -> Result<String> {
    let data = &found.data;
    let facts = vec![
        ("Rollouts", format!("{} of {} tasks; {} failed", data.rollouts, data.tasks.len(), data.failures)),
        ("Steps", data.steps.to_string()),
        ("Signals", data.signals.join(", ")),
        ("First step compared", found.from_step.to_string()),
    ];
    let task = |t: &super::Task| {
        let numbers = [t.rollouts, t.failures, t.shortest, t.longest, t.early_failures];
        let [a, b, c, d, e] = numbers.map(|n| n.to_string());
        [t.task.clone(), a, b, c, d, e]
    };
    let content = Page {
        made: &found.made,
        facts,
        tasks: data.tasks.iter().map(task).collect(),
        remarks: &data.remarks,
        leaks: found.sections.iter().map(leak).collect(),
        sections: found.sections.iter().map(shown).collect(),
        alpha: format!("{:.0} %", 100.0 * found.alpha),
    };
    page::render(&[("rollouts.html", include_str!("../../templates/rollouts.html"))], content)
}

fn leak(section: &SectionResult) -> Leak {
    let [clock, prior, random] = ["clock", "task-prior", "random"]
        .map(|name| section.detectors.iter().find(|d| d.detector == name).expect("a row of every table"));
    let three = |of: &dyn Fn(&DetectorResult) -> String| [clock, prior, random].map(of).to_vec();
    let mut rows: Vec<(String, Vec<String>)> = clock
        .protocols
        .iter()
        .enumerate()
        .map(|(k, p)| (p.protocol.clone(), three(&|d| short(&d.protocols[k].auroc))))
        .collect();
    rows.push(("landmark (pairs)".into(), three(&|d| short(&d.landmark.pairs))));
    Leak { split: section.split.clone(), rows }
}

fn short(found: &Estimate) -> String {
    format!("{found:.3}")
}

fn shown(section: &SectionResult) -> Shown<'_> {
    let first = &section.detectors[0];
    let rows = |of: &dyn Fn(&DetectorResult) -> Option<Vec<String>>| {
        let row = |d| Some((DetectorResult::name(d), of(d)?));
        section.detectors.iter().filter_map(row).collect::<Vec<_>>()
    };
    let versus = section.detectors.iter().find_map(|d| d.difference.as_ref());
    Shown {
        split: &section.split,
        facts: facts(section),
        landmark: rows(&|d| {
            let mut cells: Vec<String> = d.landmark.named().map(|(_, found)| short(found)).to_vec();
            cells.push(d.new_tasks.as_ref().map_or("–".into(), short));
            if versus.is_some() {
                let found = d.difference.as_ref();
                cells.push(found.map_or("–".into(), |d| signed(&d.landmark.pairs)));
                cells.push(found.and_then(|d| d.new_tasks.as_ref()).map_or("–".into(), signed));
            }
            Some(cells)
        }),
        versus: versus.map(|d| d.versus.as_str()),
        protocols: first.protocols.iter().map(|p| p.protocol.as_str()).collect(),
        by_protocol: rows(&|d| Some(d.protocols.iter().map(|p| short(&p.auroc)).collect())),
        early: rows(&|d| Some(vec![short(d.detected.as_ref()?), format!("{:.1}", d.lead.as_ref()?)])),
        incident: rows(&|d| Some(vec![short(d.incident.as_ref()?)])),
        probabilities: rows(&|d| Some(vec![short(d.brier.as_ref()?), signed(d.bias.as_ref()?)])),
        promises: rows(&|d| {
            let a = d.alarms.as_ref()?;
            let detected = a.detected.as_ref().map_or("–".into(), short);
            let counts = [a.own, a.pooled, a.without].map(|n| n.to_string());
            Some([vec![short(&a.false_alarms), detected], counts.to_vec()].concat())
        }),
        charts: vec![by_step(section), curves(section)],
    }
}

impl DetectorResult {
    fn name(&self) -> &str {
        &self.detector
    }
}

fn facts(section: &SectionResult) -> Vec<(&'static str, String)> {
    let tasks = match (section.split.as_str(), section.knows_tasks) {
        ("all", _) => "nothing was learned; the task prior is the share of these rollouts themselves",
        (_, true) => "seen: detectors learned from other rollouts of the same tasks",
        (_, false) => "unseen: detectors learned from other tasks; their alarms promise nothing here",
    };
    vec![
        (
            "Judged",
            format!("{} rollouts, {} failed; parts: {}", section.rollouts, section.failures, section.parts),
        ),
        ("Tasks", tasks.into()),
        ("Steps of a task with a failure and a success", section.cells.to_string()),
    ]
}

fn signed(found: &Estimate) -> String {
    format!("{:+.3} [{:+.3}, {:+.3}]", found.value, found.low, found.high)
}

fn lines<'a>(section: &'a SectionResult, values: fn(&'a DetectorResult) -> &'a Vec<f64>) -> Vec<Line> {
    let line = |(k, d): (usize, &'a DetectorResult)| Line {
        name: d.detector.clone(),
        note: String::new(),
        pen: Pen::detector(k),
        width: 1.6,
        values: values(d).clone(),
        band: vec![],
    };
    // The clock, and the last ones: what was asked for stands behind the baselines.
    let n = section.detectors.len();
    let is_shown = |k: &usize| *k == 0 || *k >= n.saturating_sub(MOST_LINES - 1).max(3);
    section.detectors.iter().enumerate().filter(|(k, _)| is_shown(k)).map(line).collect()
}

fn chart(title: &str, what: &str, axis: Axis, lines: Vec<Line>, levels: Vec<Level>) -> Value {
    let plot = Plot {
        title: title.into(),
        what: what.into(),
        axis,
        lines,
        levels,
        onset: None,
        mark: None,
        size: (620.0, 300.0),
    };
    Value::from_safe_string(plot.alone())
}

fn by_step(section: &SectionResult) -> Value {
    let half = Level { name: "clock".into(), value: 0.5, main: true };
    let title = "Landmark AUC at each step (first part)";
    chart(title, "step", Axis::linear(0.0, 1.0), lines(section, |d| &d.by_step), vec![half])
}

fn curves(section: &SectionResult) -> Value {
    let title = "Failures with an alarm by each step, at equal false alarms in each task (first part)";
    chart(title, "step", Axis::linear(0.0, 1.0), lines(section, |d| &d.curve), vec![])
}
