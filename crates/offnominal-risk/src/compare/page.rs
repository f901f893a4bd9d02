//! A comparison as a self-contained page: the decision, an interval for each comparison on one axis, and the numbers.

use super::recorded::document::{Recorded, Row};
use super::report::{Comparison, Report};
use super::verdict::Verdict;
use anyhow::Result;
use minijinja::Value;
use offnominal_core::estimate::Estimate;
use offnominal_files::provenance::Provenance;
use offnominal_files::write as files;
use offnominal_report::axis::Axis;
use offnominal_report::number::plain;
use offnominal_report::svg::{Anchor, Stroke, Svg};
use serde::Serialize;
use std::path::{Path, PathBuf};

/// Name of the page.
const FILE: &str = "compare.html";
/// Height of a row of the picture, and width of its plane.
const ROW: f64 = 34.0;
const WIDTH: f64 = 340.0;
/// Rows that are drawn; the table has all.
const MOST_DRAWN: usize = 60;

/// What the template sees.
#[derive(Serialize)]
struct Page<'a> {
    title: String,
    facts: Vec<(&'static str, String)>,
    decisions: Vec<String>,
    remarks: &'a [String],
    doubts: &'a [String],
    note: String,
    sections: Vec<Section>,
    made: &'a Provenance,
}

/// Comparisons that belong together.
#[derive(Serialize)]
struct Section {
    title: &'static str,
    chart: Value,
    rows: Vec<Shown>,
}

/// A comparison as the page shows it.
#[derive(Serialize)]
struct Shown {
    name: String,
    pairs: String,
    old: String,
    new: String,
    difference: String,
    verdict: String,
}

/// An interval of the picture.
struct Bar<'a> {
    name: String,
    difference: &'a Estimate,
    class: &'static str,
}

/// Writes the page into a folder.
///
/// # Errors
/// If it cannot be written.
pub fn write(folder: &Path, page: &str) -> Result<PathBuf> {
    let path = folder.join(FILE);
    files::atomically(&path, page.as_bytes())?;
    Ok(path)
}

/// The page of outcomes that were recorded.
///
/// # Errors
/// If the template cannot be filled, which is a mistake of ours.
pub fn of_recorded(found: &Recorded) -> Result<String> {
    let policy = |i: usize| {
        format!(
            "{} ({} trials, {})",
            found.policies[i].policy, found.policies[i].trials, found.policies[i].format
        )
    };
    let mut facts = vec![("OLD", policy(0))];
    facts.extend((1..found.policies.len()).map(|i| ("NEW", policy(i))));
    facts.extend([("Decided by", found.metric.clone())]);
    facts.extend(found.margin.map(|margin| ("Margin", margin.to_string())));
    let section = |title, rows: &[Row]| Section {
        title,
        chart: chart(&rows.iter().map(Row::bar).collect::<Vec<_>>()),
        rows: rows.iter().map(|row| row.shown(&found.metric)).collect(),
    };
    let sections = [("What decides", &found.decides), ("Details", &found.details)];
    let sections = sections.into_iter().filter(|(_, rows)| !rows.is_empty());
    let level = 100.0 * found.level;
    render(Page {
        title: match &found.policies[..] {
            [old, new] => format!("{} compared with {}", new.policy, old.policy),
            all => format!("{} policies compared with {}", all.len() - 1, all[0].policy),
        },
        facts,
        decisions: found.sentences().collect(),
        remarks: &found.remarks,
        doubts: &[],
        note: format!(
            "{level} % intervals of NEW − OLD. Those of one table hold together{}; each table has an error of its own.",
            found.when()
        ),
        sections: sections.map(|(title, rows)| section(title, rows)).collect(),
        made: &found.made,
    })
}

/// The page of pairs that were played.
///
/// # Errors
/// As [`of_recorded`].
pub fn of_played(found: &Report) -> Result<String> {
    let mut facts =
        vec![("OLD", found.old.clone()), ("NEW", found.new.clone()), ("Environment", found.env.clone())];
    facts.extend(found.scenario.clone().map(|scenario| ("Scenario", scenario)));
    facts.push(("Pairs", format!("{} of {} at most", found.pairs, found.most)));
    let level = 100.0 * found.judged().map_or(0.95, |c| c.difference.level);
    // A mean return has a scale of its own.
    let is_drawn = |c: &&Comparison| c.quantity.is_share();
    let bars: Vec<Bar<'_>> = found.comparisons.iter().filter(is_drawn).map(Comparison::bar).collect();
    let section = Section {
        title: "All that was compared",
        chart: chart(&bars),
        rows: found.comparisons.iter().map(|c| c.shown(found)).collect(),
    };
    render(Page {
        title: format!("{} compared with {} in {}", found.new, found.old, found.env),
        facts,
        decisions: vec![found.decision()],
        remarks: &[],
        doubts: &found.warnings,
        note: format!("{level} % intervals of NEW − OLD, each for itself, at every number of pairs."),
        sections: vec![section],
        made: &found.made,
    })
}

fn render(page: Page<'_>) -> Result<String> {
    offnominal_report::page::render(&[("compare.html", include_str!("../../templates/compare.html"))], page)
}

impl Row {
    fn bar(&self) -> Bar<'_> {
        let class = match self.verdict {
            Verdict::Better | Verdict::NoWorse => "c0",
            Verdict::Worse => "c1",
            Verdict::Undecided => "cb",
        };
        Bar { name: self.name(), difference: &self.difference, class }
    }

    fn shown(&self, metric: &str) -> Shown {
        Shown {
            name: self.name(),
            pairs: format!("{}, by {}", self.pairs, <&str>::from(self.matched)),
            old: number(&self.old),
            new: number(&self.new),
            difference: number(&self.difference),
            verdict: self.sentence(metric),
        }
    }
}

impl Comparison {
    fn name(&self) -> String {
        format!("{}, {}", <&str>::from(self.quantity), <&str>::from(self.condition))
    }

    fn bar(&self) -> Bar<'_> {
        let Estimate { low, high, .. } = self.difference;
        let sign = self.quantity.sign();
        let class = if low * sign > 0.0 && high * sign > 0.0 {
            "c0"
        } else if low * sign < 0.0 && high * sign < 0.0 {
            "c1"
        } else {
            "cb"
        };
        Bar { name: self.name(), difference: &self.difference, class }
    }

    fn shown(&self, of: &Report) -> Shown {
        let decides = self.quantity == of.metric && self.condition == of.condition;
        Shown {
            name: self.name(),
            pairs: self.difference.n.to_string(),
            old: number(&self.old),
            new: number(&self.new),
            difference: number(&self.difference),
            verdict: if decides { "decides".into() } else { String::new() },
        }
    }
}

fn number(e: &Estimate) -> String {
    if e.low.is_finite() && e.high.is_finite() {
        format!("{:.3} [{:.3}, {:.3}]", e.value, e.low, e.high)
    } else {
        format!("{:.3}", e.value)
    }
}

/// Intervals below one another, with their names above them, so that it fits on a narrow screen.
fn chart(bars: &[Bar<'_>]) -> Value {
    let bars = &bars[..bars.len().min(MOST_DRAWN)];
    let ends =
        || bars.iter().flat_map(|bar| [bar.difference.low, bar.difference.high]).filter(|x| x.is_finite());
    let most = ends().map(f64::abs).fold(0.05, f64::max);
    let axis = Axis::linear(-most, most);
    let at = |x: f64| 8.0 + (WIDTH - 16.0) * axis.place(x);
    let bottom = 24.0 + ROW * bars.len() as f64;
    let mut svg = Svg::new(WIDTH, bottom + 20.0, "NEW − OLD with its interval");
    svg.text(4.0, 14.0, Anchor::Start, "label soft", "← OLD is larger");
    svg.text(WIDTH - 4.0, 14.0, Anchor::End, "label soft", "NEW is larger →");
    let grid = Stroke { class: "grid", colour: "#e4e4e0", width: 1.0, dash: "" };
    for tick in axis.ticks(4) {
        svg.segment((at(tick), 22.0), (at(tick), bottom), &grid);
        svg.text(at(tick), bottom + 15.0, Anchor::Middle, "label", &plain(tick));
    }
    svg.segment(
        (at(0.0), 22.0),
        (at(0.0), bottom),
        &Stroke { class: "cb", colour: "#8a8a8a", width: 1.5, dash: "" },
    );
    for (i, bar) in bars.iter().enumerate() {
        draw(&mut svg, bar, 24.0 + ROW * i as f64, at);
    }
    Value::from_safe_string(svg.end())
}

fn draw(svg: &mut Svg, bar: &Bar<'_>, top: f64, at: impl Fn(f64) -> f64) {
    let colour = match bar.class {
        "c0" => "#0072b2",
        "c1" => "#d55e00",
        _ => "#8a8a8a",
    };
    svg.text(4.0, top + 13.0, Anchor::Start, "label", &shortened(&bar.name));
    let (y, Estimate { value, low, high, .. }) = (top + 24.0, bar.difference);
    svg.segment((at(*low), y), (at(*high), y), &Stroke { class: bar.class, colour, width: 3.0, dash: "" });
    svg.dot((at(*value), y), bar.class, colour);
}

/// The end of a name says most: files lie in long folders.
fn shortened(name: &str) -> String {
    const MOST: usize = 52;
    let n = name.chars().count();
    if n <= MOST {
        name.into()
    } else {
        format!("…{}", name.chars().skip(n - MOST + 1).collect::<String>())
    }
}
