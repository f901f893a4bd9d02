//! What image detectors saw: the image, what was expected, where the score comes from, and the score over time.

use crate::report::index::Index;
use crate::report::traces;
use crate::results::{Panel, Trace};
use minijinja::Value;
use offnominal_report::number::plain;
use serde::Serialize;

/// One episode, as all image detectors saw it.
#[derive(Serialize)]
pub struct Group {
    /// Anomaly, strength and episode.
    title: String,
    /// Environment, by which the page groups.
    environment: String,
    /// One per detector.
    rows: Vec<Line>,
}

/// What one detector made of it.
#[derive(Serialize)]
struct Line {
    detector: String,
    caption: String,
    seen: Value,
    expected: Option<Value>,
    heat: Option<Value>,
    /// The score over time.
    chart: String,
}

/// The episodes of which there are images, each with its detectors in the order of the tables.
pub fn groups(index: &Index, panels: &[Panel], all: &[Trace]) -> Vec<Group> {
    let mut sorted: Vec<&Panel> =
        panels.iter().filter(|p| p.expected.is_some() || p.heat.is_some()).collect();
    sorted.sort_by_key(|p| index.detectors.iter().position(|d| *d == p.detector)); // a stable sort
    let mut groups: Vec<Group> = Vec::new();
    for panel in sorted {
        let title = format!("{} {} · episode {}", panel.anomaly, panel.strength, panel.episode);
        let at =
            groups.iter().position(|g| g.environment == panel.env && g.title == title).unwrap_or_else(|| {
                groups.push(Group { title, environment: panel.env.clone(), rows: Vec::new() });
                groups.len() - 1
            });
        let own = |t: &&Trace| {
            (&t.env, &t.anomaly, &t.strength, &t.detector, t.episode)
                == (&panel.env, &panel.anomaly, &panel.strength, &panel.detector, panel.episode)
        };
        let chart = all.iter().find(own).map_or(String::new(), |trace| traces::chart(index, trace));
        groups[at].rows.push(line(panel, chart));
    }
    groups
}

fn line(panel: &Panel, chart: String) -> Line {
    let late = panel.step.saturating_sub(panel.onset);
    let when = if late == 0 { "at the onset".into() } else { format!("{late} after the onset") };
    Line {
        detector: panel.detector.clone(),
        caption: format!(
            "step {}, {when}; score {}",
            panel.step,
            plain((panel.score * 100.0).round() / 100.0)
        ),
        seen: source(&panel.seen),
        expected: panel.expected.as_deref().map(source),
        heat: panel.heat.as_deref().map(source),
        chart,
    }
}

/// The image as the address of an image; letters that cannot occur in base 64 are left out.
fn source(base64: &str) -> Value {
    let safe: String =
        base64.chars().filter(|c| c.is_ascii_alphanumeric() || ['+', '/', '='].contains(c)).collect();
    Value::from_safe_string(format!("data:image/png;base64,{safe}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::Results;

    #[test]
    fn an_image_cannot_break_out_of_its_page() {
        let panel = Panel {
            env: "w".into(),
            anomaly: "act-noise".into(),
            strength: "tiny".into(),
            detector: "<b>".into(),
            episode: 0,
            step: 7,
            onset: 5,
            score: 1.25,
            seen: "aGk=\"><script>".into(),
            expected: Some("aGk=".into()),
            heat: None,
        };
        let page = crate::report::render(&Results { panels: vec![panel], ..Results::default() }).unwrap();
        assert!(page.contains("2 after the onset") && page.contains("base64,aGk=script"));
        assert!(!page.contains("<b>: ") && page.matches("<script").count() == 2);
    }
}
