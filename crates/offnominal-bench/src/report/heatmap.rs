//! Heat maps detector × anomaly × strength, one per environment: as tables for the page and as images beside it.

use crate::report::cells::Cell;
use crate::report::index::Index;
use offnominal_report::colour;
use offnominal_report::svg::{Anchor, Svg};
use serde::Serialize;

/// So many columns fit on a page, so many detectors stand side by side.
const COLUMNS: usize = 28;

/// The heat map of one environment.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct HeatMap {
    /// Environment.
    pub environment: String,
    /// Strength levels, the columns of each detector.
    pub strengths: Vec<String>,
    /// Groups of detectors that fit side by side.
    pub blocks: Vec<Block>,
}

/// Some detectors side by side.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Block {
    /// The detectors: name, and name of the colour.
    pub detectors: Vec<(String, String)>,
    /// One row per anomaly.
    pub rows: Vec<HeatRow>,
}

/// One anomaly.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct HeatRow {
    /// Anomaly id, or `nominal` for the control.
    pub anomaly: String,
    /// Class of the anomaly, on the first row of each class.
    pub class: Option<String>,
    /// Numbers of the cells, by detector and then by strength; none where the campaign has no such cell.
    pub cells: Vec<Option<usize>>,
}

/// The heat maps of all environments.
pub fn all(index: &Index) -> Vec<HeatMap> {
    index.environments.iter().map(|w| heat_map(index, w)).filter(|m| !m.strengths.is_empty()).collect()
}

fn heat_map(index: &Index, environment: &str) -> HeatMap {
    let mut strengths: Vec<String> = Vec::new();
    for s in index.anomalous(Some(environment)) {
        let strength = &index.settings[s].strength;
        if !strengths.contains(strength) {
            strengths.push(strength.clone());
        }
    }
    strengths.sort_by_key(|s| crate::report::settings::strength_rank(s));
    let blocks = groups(index.detectors.len(), strengths.len());
    let blocks = blocks.into_iter().map(|d| block(index, environment, &strengths, d)).collect();
    HeatMap { environment: environment.into(), strengths, blocks }
}

/// Splits the detectors evenly into groups that fit.
fn groups(detectors: usize, strengths: usize) -> Vec<std::ops::Range<usize>> {
    let most = (COLUMNS / strengths.max(1)).max(1);
    let count = detectors.div_ceil(most).max(1);
    let size = detectors.div_ceil(count);
    (0..count).map(|g| g * size..((g + 1) * size).min(detectors)).collect()
}

fn block(index: &Index, environment: &str, strengths: &[String], detectors: std::ops::Range<usize>) -> Block {
    let mut rows: Vec<HeatRow> = Vec::new();
    let mut class = "";
    let of_environment = index.anomalous(Some(environment));
    for (kind, anomaly) in anomalies(index, environment) {
        let cell = |d: usize, strength: &String| find(index, &of_environment, anomaly, strength, d);
        let cells = detectors.clone().flat_map(|d| strengths.iter().map(move |s| cell(d, s))).collect();
        let first = kind != class;
        class = kind;
        rows.push(HeatRow { anomaly: anomaly.into(), class: first.then(|| kind.to_string()), cells });
    }
    let detectors = detectors.map(|d| (index.detectors[d].clone(), index.pen(d).class)).collect();
    Block { detectors, rows }
}

fn anomalies<'i>(index: &'i Index, environment: &str) -> Vec<(&'i str, &'i str)> {
    let settings = index.anomalous(Some(environment)).into_iter().map(|s| &index.settings[s]);
    crate::report::distinct(settings.map(|s| (s.class.as_str(), s.anomaly.as_str())))
}

/// The number of a cell in [`crate::report::cells::all`].
fn find(
    index: &Index,
    of_environment: &[usize],
    anomaly: &str,
    strength: &str,
    detector: usize,
) -> Option<usize> {
    let is = |s: &&usize| index.settings[**s].anomaly == anomaly && index.settings[**s].strength == strength;
    of_environment.iter().find(is).map(|s| s * index.detectors.len() + detector)
}

const CELL: (f64, f64) = (30.0, 20.0);
const LEFT: f64 = 150.0;
const TOP: f64 = 64.0;

/// One block as an image of its own; `metric` is the number of the metric among the cells' values.
pub fn image(map: &HeatMap, block: &Block, cells: &[Cell], metric: usize, title: &str) -> String {
    let width = LEFT + group_width(map) * block.detectors.len() as f64 + 10.0;
    let mut svg = Svg::alone(width, TOP + CELL.1 * block.rows.len() as f64 + 12.0, title);
    svg.text(8.0, 18.0, Anchor::Start, "title", title);
    for (i, (detector, _)) in block.detectors.iter().enumerate() {
        heads(&mut svg, map, LEFT + group_width(map) * i as f64, detector);
    }
    for (i, row) in block.rows.iter().enumerate() {
        draw_row(&mut svg, map, row, TOP + CELL.1 * i as f64, cells, metric);
    }
    svg.end()
}

/// Width of a detector's columns with the gap after them.
fn group_width(map: &HeatMap) -> f64 {
    CELL.0 * map.strengths.len() as f64 + 8.0
}

fn heads(svg: &mut Svg, map: &HeatMap, x: f64, detector: &str) {
    svg.text(x + 2.0, 40.0, Anchor::Start, "label strong", detector);
    for (i, strength) in map.strengths.iter().enumerate() {
        svg.text(x + CELL.0 * (i as f64 + 0.5), 56.0, Anchor::Middle, "label", &short(strength));
    }
}

/// A name that fits above a narrow column.
fn short(strength: &str) -> String {
    if strength.chars().count() <= 4 {
        return strength.to_string();
    }
    strength.chars().take(3).chain(['.']).collect()
}

fn draw_row(svg: &mut Svg, map: &HeatMap, row: &HeatRow, y: f64, cells: &[Cell], metric: usize) {
    svg.text(LEFT - 8.0, y + 14.0, Anchor::End, "label", &row.anomaly);
    for (i, cell) in row.cells.iter().enumerate() {
        let (group, column) = (i / map.strengths.len(), i % map.strengths.len());
        let x = LEFT + group_width(map) * group as f64 + CELL.0 * column as f64;
        let value = cell.and_then(|c| cells.get(c)).and_then(|c| c.values.get(metric));
        let fill = value.and_then(|v| v.0).map_or("#ffffff".into(), colour::diverging);
        svg.rectangle((x, y), (CELL.0 - 1.0, CELL.1 - 1.0), &fill);
        let text = value.map_or(offnominal_report::number::MISSING, |v| v.1.as_str());
        svg.text(x + 0.5 * CELL.0, y + 14.0, Anchor::Middle, "label", text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::cells;
    use crate::report::index::Index;
    use crate::report::sample::row;

    #[test]
    fn every_cell_is_found_at_its_place() {
        let rows = [
            row("knn", "obs-noise", "strong", "auroc_matched", "", 0.9),
            row("knn", "obs-noise", "tiny", "auroc_matched", "", 0.6),
            row("knn", "act-delay", "strong", "auroc_matched", "", 0.7),
        ];
        let index = Index::new(&rows);
        let (maps, cells) = (all(&index), cells::all(&index));
        let block = &maps[0].blocks[0];
        let shown: Vec<Vec<&str>> = block
            .rows
            .iter()
            .map(|r| r.cells.iter().map(|c| c.map_or("", |c| cells[c].values[0].1.as_str())).collect())
            .collect();
        assert_eq!(maps[0].strengths, ["tiny", "strong"]);
        assert_eq!(shown, [[".60", ".90"], ["", ".70"]]);
        let image = image(&maps[0], block, &cells, 0, "AUROC");
        assert!(image.contains(">.60<") && image.contains(&colour::diverging(0.8)), "{image}");
    }

    #[test]
    fn many_detectors_make_several_blocks() {
        assert_eq!((groups(6, 4).len(), groups(6, 4)[0].clone()), (1, 0..6));
        assert_eq!(groups(9, 4), [0..5, 5..9]);
        assert_eq!(groups(3, 40), [0..1, 1..2, 2..3]);
    }
}
