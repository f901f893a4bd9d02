//! Box plots: how the values of several groups are distributed, one row per group, for files of their own.

use crate::axis::Axis;
use crate::colour::Pen;
use crate::frame::{Frame, Margins};
use crate::number;
use crate::svg::{Anchor, Stroke, Svg};

/// The values of one row.
#[derive(Debug, Clone)]
pub struct Group {
    /// What is written at the left of the row.
    pub name: String,
    /// How the row is drawn.
    pub pen: Pen,
    /// The values in any order; what is not finite is left out.
    pub values: Vec<f64>,
}

/// Rows of boxes over one horizontal axis.
#[derive(Debug, Clone)]
pub struct BoxPlot {
    /// The title, which is also what a screen reader says.
    pub title: String,
    /// What the horizontal axis shows.
    pub what: String,
    /// The horizontal axis; values outside are drawn on its edge.
    pub axis: Axis,
    /// A value to compare with, drawn as a dashed line.
    pub reference: Option<f64>,
    /// The rows, from top to bottom.
    pub groups: Vec<Group>,
}

/// Five quantiles and the mean of a group.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Summary {
    /// At 5, 25, 50, 75 and 95 %.
    quantiles: [f64; 5],
    mean: f64,
}

const WIDTH: f64 = 620.0;
const ROW: f64 = 20.0;
const MARGINS: Margins = Margins { left: 178.0, right: 16.0, top: 26.0, bottom: 36.0 };
/// Half the height of a box.
const HALF: f64 = 6.0;

impl BoxPlot {
    /// The chart as a file of its own: whiskers from 5 to 95 %, the box from 25 to 75 %, a line at the median and a dot
    /// at the mean. A group without finite values has its name and nothing else.
    pub fn alone(&self) -> String {
        let frame = self.frame();
        let mut svg = Svg::alone(frame.size.0, frame.size.1, &self.title);
        Frame::title(&mut svg, &self.title);
        self.draw_axis(&frame, &mut svg);
        for (i, group) in self.groups.iter().enumerate() {
            let y = MARGINS.top + ROW * (i as f64 + 0.5);
            svg.text(MARGINS.left - 8.0, y + 4.0, Anchor::End, "label", &group.name);
            if let Some(summary) = Summary::of(&group.values) {
                draw_box(&frame, &mut svg, (group, &summary), y);
            }
        }
        svg.end()
    }

    fn frame(&self) -> Frame {
        let height = MARGINS.top + MARGINS.bottom + ROW * self.groups.len() as f64;
        Frame { x: self.axis.clone(), y: Axis::linear(0.0, 1.0), size: (WIDTH, height), margins: MARGINS }
    }

    fn draw_axis(&self, frame: &Frame, svg: &mut Svg) {
        let (ticks, [_, top, _, bottom]) = (self.axis.ticks(6), frame.edges());
        let upright = |svg: &mut Svg, value: f64, stroke: &Stroke<'_>| {
            let (x, _) = frame.at((value, 0.0));
            svg.segment((x, top), (x, bottom), stroke);
        };
        for &tick in &ticks {
            upright(svg, tick, &Stroke { class: "grid", colour: "#e4e4e0", width: 1.0, dash: "" });
        }
        if let Some(value) = self.reference {
            upright(svg, value, &Stroke { class: "cb", colour: "#8a8a8a", width: 1.2, dash: "4 3" });
        }
        frame.columns(svg, &ticks, number::plain);
        frame.name_x(svg, &self.what);
    }
}

fn draw_box(frame: &Frame, svg: &mut Svg, (group, summary): (&Group, &Summary), y: f64) {
    let Pen { class, colour, .. } = &group.pen;
    let x = |value: f64| frame.at((value, 0.0)).0;
    let [lowest, low, median, high, highest] = summary.quantiles.map(x);
    let stroke = |width: f64| Stroke { class, colour, width, dash: "" };
    svg.segment((lowest, y), (low, y), &stroke(1.2));
    svg.segment((high, y), (highest, y), &stroke(1.2));
    for end in [lowest, highest] {
        svg.segment((end, y - 3.0), (end, y + 3.0), &stroke(1.2));
    }
    let (upper, lower) = ([(low, y - HALF), (high, y - HALF)], [(low, y + HALF), (high, y + HALF)]);
    svg.band(&upper, &lower, class, colour);
    svg.path(&[upper[0], upper[1], lower[1], lower[0], upper[0]], &stroke(1.0));
    svg.segment((median, y - HALF), (median, y + HALF), &stroke(2.5));
    svg.dot((x(summary.mean), y), class, colour);
}

impl Summary {
    /// None if no value is finite.
    fn of(values: &[f64]) -> Option<Summary> {
        let mut values: Vec<f64> = values.iter().copied().filter(|v| v.is_finite()).collect();
        values.sort_unstable_by(f64::total_cmp);
        let last = values.len().checked_sub(1)? as f64;
        let quantile = |p: f64| {
            let (below, share) = ((p * last).floor(), (p * last).fract());
            let next = (below as usize + 1).min(last as usize);
            values[below as usize] + share * (values[next] - values[below as usize])
        };
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        Some(Summary { quantiles: [0.05, 0.25, 0.5, 0.75, 0.95].map(quantile), mean })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_lie_between_the_values() {
        let summary = Summary::of(&[4.0, 0.0, 1.0, f64::NAN, 2.0, 3.0]).unwrap();
        assert_eq!(summary.quantiles, [0.2, 1.0, 2.0, 3.0, 3.8]);
        assert_eq!(summary.mean, 2.0);
        assert_eq!(Summary::of(&[7.0]).unwrap().quantiles, [7.0; 5]);
        assert_eq!(Summary::of(&[f64::NAN]), None);
    }

    #[test]
    fn a_box_stands_where_its_values_do() {
        let group = |name: &str, values: &[f64]| Group {
            name: name.into(),
            pen: Pen::detector(0),
            values: values.into(),
        };
        let plot = BoxPlot {
            title: "t".into(),
            what: "AUROC".into(),
            axis: Axis::linear(0.0, 1.0),
            reference: Some(0.5),
            groups: vec![group("a", &[0.5; 9]), group("empty", &[])],
        };
        let (svg, middle) = (plot.alone(), MARGINS.left + (WIDTH - MARGINS.left - MARGINS.right) / 2.0);
        assert!(svg.contains(&format!("cx=\"{middle}\" cy=\"36\"")), "{svg}");
        assert_eq!(svg.matches("<circle").count(), 1, "{svg}");
        assert!(svg.contains(">empty</text>") && svg.contains("stroke-dasharray=\"4 3\""), "{svg}");
    }
}
