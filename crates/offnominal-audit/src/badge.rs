//! The result in one line: an SVG to show, and JSON as badge services read it.

use crate::advice::percent;
use crate::document::Audit;
use offnominal_report::svg::escape;
use serde_json::{Value, json};

/// Names of the files in an audit's folder.
pub const FILES: [&str; 2] = ["badge.svg", "badge.json"];

const LABEL: &str = "offnominal audit";
/// Mean width of a character at 11 pixels, and what stands left and right of a text.
const CHARACTER: f64 = 6.6;
const PADDING: f64 = 8.0;

/// What the line says.
pub fn message(audit: &Audit) -> String {
    let detector = audit.detectors.iter().find(|d| d.name == audit.choice.recommended);
    let auroc = detector.and_then(|d| d.auroc_matched).map_or("–".into(), |n| format!("{:.2}", n.value));
    let alarms = detector.and_then(|d| d.false_alarm_rate).map_or("–".into(), |n| percent(n.value));
    let risk = audit.failures.best().map_or("–".into(), |n| format!("≤ {}", percent(n.high)));
    let unmet = audit.requirements.iter().filter(|r| !r.met).count();
    let verdict = match (audit.requirements.len(), unmet) {
        (0, _) => String::new(),
        (n, 0) => format!(" · {n} of {n} requirements met"),
        (n, unmet) => format!(" · {unmet} of {n} requirements not met"),
    };
    format!("AUROC {auroc} · false alarms {alarms} · risk {risk}{verdict}")
}

/// Green where all requirements are met, orange where one is not, blue where there is none.
fn colour(audit: &Audit) -> (&'static str, &'static str) {
    match (audit.requirements.is_empty(), audit.requirements.iter().all(|r| r.met)) {
        (true, _) => ("blue", "#0060a0"),
        (false, true) => ("green", "#2e7d32"),
        (false, false) => ("orange", "#a34a00"),
    }
}

/// As badge services read it: label, message and colour.
pub fn json(audit: &Audit) -> Value {
    json!({ "schemaVersion": 1, "label": LABEL, "message": message(audit), "color": colour(audit).0 })
}

/// As an image.
pub fn svg(audit: &Audit) -> String {
    let (message, fill) = (message(audit), colour(audit).1);
    let width = |text: &str| text.chars().count() as f64 * CHARACTER + 2.0 * PADDING;
    let (left, right) = (width(LABEL), width(&message));
    let (all, label, text) = (left + right, escape(LABEL), escape(&message));
    let (middle, end) = (left / 2.0, left + right / 2.0);
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{all:.0}\" height=\"20\" role=\"img\" aria-label=\"{label}: {text}\">\
         <rect width=\"{left:.1}\" height=\"20\" fill=\"#3a3d42\"/>\
         <rect x=\"{left:.1}\" width=\"{right:.1}\" height=\"20\" fill=\"{fill}\"/>\
         <g fill=\"#fff\" font-family=\"Verdana,DejaVu Sans,sans-serif\" font-size=\"11\" text-anchor=\"middle\">\
         <text x=\"{middle:.1}\" y=\"14\">{label}</text><text x=\"{end:.1}\" y=\"14\">{text}</text></g></svg>\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::sample;
    use crate::requirement::parse;

    #[test]
    fn the_line_says_what_was_found_and_whether_it_is_enough() {
        let mut audit = sample();
        assert_eq!(message(&audit), "AUROC 0.85 · false alarms 4.0 % · risk ≤ 9.0 %");
        assert_eq!(json(&audit)["color"], "blue");
        audit.requirements =
            parse("risk <= 0.5, risk <= 0.01").unwrap().iter().map(|r| r.judge(&audit)).collect();
        assert!(
            message(&audit).ends_with("1 of 2 requirements not met") && json(&audit)["color"] == "orange"
        );
        assert!(svg(&audit).contains("#a34a00"));
    }
}
