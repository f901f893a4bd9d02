//! Figures of the page: how the matched AUROC of each detector is distributed over cells, and what anomalies of growing
//! magnitude cost a policy.

use crate::suite::page::pick::Pick;
use crate::suite::page::{Found, POLICY};
use crate::suite::{Row, Suite};
use anyhow::Result;
use offnominal_engine::strengths::{self as tables, Strength};
use offnominal_report::axis::Axis;
use offnominal_report::boxes::{BoxPlot, Group};
use offnominal_report::colour::Pen;
use offnominal_report::curves::{Curve, Curves, Point};
use std::path::Path;

/// A figure: the name of its file, what its title says, and the rows that it shows.
struct Figure {
    file: &'static str,
    title: &'static str,
    keep: fn(&Row) -> bool,
}

/// What stands in the place of the paper's Figure 3, and at the end of its Figure 5.
const FIGURES: [Figure; 8] = [
    Figure { file: "vector-all.svg", title: "all anomalies, all strengths", keep: |_| true },
    Figure {
        file: "vector-action.svg",
        title: "anomalies of actions",
        keep: |r| r.anomaly_class == "action",
    },
    Figure {
        file: "vector-observation.svg",
        title: "anomalies of observations",
        keep: |r| r.anomaly_class == "observation",
    },
    Figure {
        file: "vector-dynamics.svg",
        title: "anomalies of dynamics",
        keep: |r| r.anomaly_class == "dynamics",
    },
    Figure { file: "vector-tiny.svg", title: "tiny anomalies", keep: |r| r.strength == "tiny" },
    Figure { file: "vector-extreme.svg", title: "extreme anomalies", keep: |r| r.strength == "extreme" },
    Figure {
        file: "vector-urm-reach.svg",
        title: "urm-reach, a robot in MuJoCo",
        keep: |r| r.env == "urm-reach",
    },
    Figure {
        file: "vector-urr-reach.svg",
        title: "urr-reach, the same robot behind its link",
        keep: |r| r.env == "urr-reach",
    },
];

/// What stands in the place of the paper's Figure 4, and its environment and anomalies: four that the policy survives the
/// less the stronger they are, and one that has no effect beyond some magnitude.
const STRENGTHS: &str = "strengths-sap-goal1.svg";
const CALIBRATED: (&str, [&str; 5]) =
    ("sap-goal1", ["act-offset", "obs-offset", "obs-noise", "dyn-damping", "dyn-moving-objects"]);

const METRIC: &str = "auroc_matched";

/// What the baselines are drawn with, and told apart from detectors by.
const BASELINES: [&str; 2] = ["clock", "random"];

/// The names of the figures' files with what is in them.
///
/// # Errors
/// If no environment of the suite is in the folder, or a file there is damaged.
pub(in crate::suite) fn figures(suite: &Suite, out: &Path) -> Result<Vec<(&'static str, String)>> {
    let found = Found::load(suite, out)?;
    let rows = Pick::anomalies(&found.rows, POLICY, &[METRIC]);
    let boxes = FIGURES.iter().map(|figure| (figure.file, figure.draw(&found, &rows)));
    Ok(boxes.chain([(STRENGTHS, strengths()?)]).collect())
}

/// The section that shows them; they lie in the folder `figures` beside the page.
pub(super) fn section() -> String {
    let image = |figure: &Figure| format!("![Matched AUROC, {}](figures/{})", figure.title, figure.file);
    format!(
        "## Distributions\n\nMatched AUROC over cells of environment, anomaly and strength: whiskers from 5 to 95 %, boxes from 25 to \
         75 %, a line at the median, a dot at the mean. Detectors are ordered by their mean; those that were not run in every environment are left out. Where two environments have the same \
         robot, the second one is reached over the robot's own protocol, here with a simulated controller. \
         `offnominal bench --suite vector --figures FOLDER` writes the figures.\n\n{}\n\n\
         The last figure has the strengths of {} for five anomalies: a level is the magnitude at which the policy keeps 99, 90, 75 or \
         50 % of its score. Objects that move cost it little however fast they are, so only the tiny level exists.\n\n![What anomalies cost the policy in sap-goal1, by magnitude](figures/{STRENGTHS})\n",
        FIGURES.iter().map(image).collect::<Vec<_>>().join("\n\n"),
        CALIBRATED.0
    )
}

/// Magnitudes in units of the tiny one, because each anomaly has its own unit.
fn strengths() -> Result<String> {
    let (env, anomalies) = CALIBRATED;
    let table = tables::table(env)?;
    let curves: Vec<Curve> = anomalies.iter().enumerate().map(|(i, id)| curve(&table, i, id)).collect();
    let widest = curves.iter().flat_map(|c| &c.points).map(|p| p.x).fold(1.0, f64::max);
    let chart = Curves {
        title: format!("What anomalies cost the policy in {env}"),
        what: ("magnitude, in units of the tiny one".into(), "normalised score".into()),
        x: Axis { low: 0.9, high: widest * 1.1, logarithmic: true },
        y: Axis::linear(0.3, 1.0),
        curves,
    };
    Ok(chart.alone())
}

fn curve(table: &[Strength], number: usize, anomaly: &str) -> Curve {
    let rows = || table.iter().filter(|row| row.policy == POLICY && row.anomaly == anomaly);
    let tiny = rows().find_map(|row| row.magnitude).unwrap_or(f64::NAN);
    let point = |row: &Strength| {
        let interval = (row.score_low?, row.score_high?);
        Some(Point { x: row.magnitude? / tiny, y: row.score?, interval })
    };
    Curve { name: anomaly.into(), pen: Pen::detector(number), points: rows().filter_map(point).collect() }
}

impl Figure {
    fn draw(&self, found: &Found, rows: &Pick<'_>) -> String {
        let rows = rows.only(self.keep);
        let mut groups: Vec<Group> =
            found.detectors_everywhere().iter().enumerate().map(|(i, name)| group(name, i, &rows)).collect();
        groups.retain(|group| !group.values.is_empty());
        groups.sort_by(|a, b| mean(&b.values).total_cmp(&mean(&a.values)));
        let title = format!("Matched AUROC, {}", self.title);
        BoxPlot { title, what: "AUROC".into(), axis: Axis::linear(0.3, 1.0), reference: Some(0.5), groups }
            .alone()
    }
}

fn group(detector: &str, number: usize, rows: &Pick<'_>) -> Group {
    let baseline = BASELINES.iter().position(|name| *name == detector);
    let pen = baseline.map_or_else(|| Pen::detector(number), Pen::baseline);
    let values = rows.detector(detector).0.iter().map(|row| row.value).filter(|v| v.is_finite()).collect();
    Group { name: detector.into(), pen, values }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}
