//! A line chart over steps: lines, interval bands, marked steps and levels, and values on hovering.

use crate::axis::Axis;
use crate::colour::Pen;
use crate::frame::{Frame, Margins};
use crate::number;
use crate::svg::{Anchor, Stroke, Svg};
use crate::thin::thin;
use serde_json::json;

/// One line, with a value per step.
#[derive(Debug, Clone)]
pub struct Line {
    /// What hovering calls it.
    pub name: String,
    /// What a legend adds to the name; may be empty.
    pub note: String,
    /// How it is drawn.
    pub pen: Pen,
    /// Width in pixels.
    pub width: f64,
    /// Values at steps 0, 1, ….
    pub values: Vec<f64>,
    /// Lower and upper values of its interval; empty if there is none.
    pub band: Vec<(f64, f64)>,
}

/// A level that goes through the whole chart.
#[derive(Debug, Clone)]
pub struct Level {
    /// What is written at its right end.
    pub name: String,
    /// The value.
    pub value: f64,
    /// Whether it is the one to look at.
    pub main: bool,
}

/// A chart over steps.
#[derive(Debug, Clone)]
pub struct Plot {
    /// The title, which is also what a screen reader says.
    pub title: String,
    /// What the vertical axis shows.
    pub what: String,
    /// The vertical axis.
    pub axis: Axis,
    /// The lines, the last one on top.
    pub lines: Vec<Line>,
    /// The levels.
    pub levels: Vec<Level>,
    /// The first step of a tinted stretch that lasts to the end, with its name.
    pub onset: Option<(u32, String)>,
    /// A marked point on a line: step and value, and what is written there.
    pub mark: Option<(usize, f64, String)>,
    /// Size in pixels.
    pub size: (f64, f64),
}

const TOP: f64 = 42.0;

/// About the width of the text at the onset.
const ONSET_TEXT: f64 = 210.0;

/// Width of the legend of a chart that stands alone.
const LEGEND: f64 = 270.0;

impl Plot {
    /// The chart as it stands in the page.
    pub fn inside(&self) -> String {
        self.draw(Svg::new(self.size.0, self.size.1, &self.title), true)
    }

    /// The chart as a file of its own, with a legend at its right.
    pub fn alone(&self) -> String {
        let mut svg = Svg::alone(self.size.0 + LEGEND, self.size.1, &self.title);
        for (i, line) in self.lines.iter().rev().enumerate() {
            self.draw_entry(&mut svg, line, TOP + 8.0 + 17.0 * i as f64);
        }
        self.draw(svg, false)
    }

    fn draw_entry(&self, svg: &mut Svg, line: &Line, y: f64) {
        let x = self.size.0 + 8.0;
        let Pen { class, colour, dash } = &line.pen;
        svg.segment((x, y), (x + 22.0, y), &Stroke { class, colour, width: 2.5, dash });
        let text = [line.name.as_str(), line.note.as_str()].join(" ");
        svg.text(x + 28.0, y + 4.0, Anchor::Start, "label", text.trim_end());
    }

    fn draw(&self, mut svg: Svg, with_data: bool) -> String {
        Frame::title(&mut svg, &self.title);
        self.draw_onset(&mut svg);
        self.draw_axes(&mut svg);
        self.draw_levels(&mut svg);
        self.lines.iter().for_each(|line| self.draw_band(&mut svg, line));
        self.lines.iter().for_each(|line| self.draw_line(&mut svg, line));
        self.draw_mark(&mut svg);
        if with_data {
            svg.data(&self.data());
        }
        svg.end()
    }

    fn steps(&self) -> usize {
        self.lines.iter().map(|l| l.values.len()).max().unwrap_or(0)
    }

    fn frame(&self) -> Frame {
        let last = self.steps().saturating_sub(1).max(1) as f64;
        let right = if self.levels.is_empty() { 12.0 } else { 68.0 };
        let margins = Margins { left: 50.0, right, top: TOP, bottom: 34.0 };
        Frame { x: Axis::linear(0.0, last), y: self.axis.clone(), size: self.size, margins }
    }

    fn draw_onset(&self, svg: &mut Svg) {
        let Some((step, name)) = &self.onset else { return };
        let frame = self.frame();
        let ((x, _), [_, top, end, bottom]) = (frame.at((f64::from(*step), 0.0)), frame.edges());
        svg.tint((x, top), (end - x, bottom - top), "onset", "#d55e00");
        let stroke = Stroke { class: "onset", colour: "#d55e00", width: 1.2, dash: "" };
        svg.segment((x, top - 4.0), (x, bottom), &stroke);
        let anchor = if x + ONSET_TEXT > end { Anchor::End } else { Anchor::Start };
        svg.text(x, top - 6.0, anchor, "label onset-text", name);
    }

    fn draw_axes(&self, svg: &mut Svg) {
        let frame = self.frame();
        frame.rows(svg, &frame.y.ticks(5), number::plain);
        frame.columns(svg, &frame.x.ticks(6), number::plain);
        let [left, _, right, bottom] = frame.edges();
        let base = Stroke { class: "base", colour: "#9a9a96", width: 1.0, dash: "" };
        svg.segment((left, bottom), (right, bottom), &base);
        frame.name_x(svg, &self.what);
    }

    fn draw_levels(&self, svg: &mut Svg) {
        let frame = self.frame();
        let [.., right, _] = frame.edges();
        for (level, label_y) in self.levels.iter().zip(self.label_places()) {
            let (width, dash) = if level.main { (1.4, "6 3") } else { (0.8, "2 3") };
            frame.across(svg, level.value, &Stroke { class: "level", colour: "#5c5f66", width, dash });
            let class = if level.main { "label strong" } else { "label soft" };
            svg.text(right + 5.0, label_y + 3.5, Anchor::Start, class, &level.name);
        }
    }

    /// Where the levels' names go, so that none covers another: pushed up from the lowest.
    fn label_places(&self) -> Vec<f64> {
        let mut order: Vec<usize> = (0..self.levels.len()).collect();
        order.sort_by(|&a, &b| self.levels[a].value.total_cmp(&self.levels[b].value));
        let (frame, mut places) = (self.frame(), vec![0.0; order.len()]);
        let mut ceiling = f64::INFINITY;
        for i in order {
            places[i] = frame.at((0.0, self.levels[i].value)).1.min(ceiling);
            ceiling = places[i] - 12.0;
        }
        places
    }

    fn draw_band(&self, svg: &mut Svg, line: &Line) {
        if line.band.is_empty() {
            return;
        }
        let frame = self.frame();
        let place = |part: fn(&(f64, f64)) -> f64| -> Vec<(f64, f64)> {
            line.band.iter().enumerate().map(|(t, b)| frame.at((t as f64, part(b)))).collect()
        };
        svg.band(&place(|b| b.1), &place(|b| b.0), &line.pen.class, line.pen.colour);
    }

    fn draw_line(&self, svg: &mut Svg, line: &Line) {
        let frame = self.frame();
        let points = thin(&frame, line.values.iter().enumerate().map(|(t, &v)| (t as f64, v)));
        let Pen { class, colour, dash } = &line.pen;
        svg.path(&points, &Stroke { class, colour, width: line.width, dash });
    }

    fn draw_mark(&self, svg: &mut Svg) {
        let Some((step, value, name)) = &self.mark else { return };
        let (x, y) = self.frame().at((*step as f64, *value));
        svg.dot((x, y), "onset-dot", "#d55e00");
        let right = x > 0.75 * self.size.0;
        let (x, anchor) = if right { (x - 7.0, Anchor::End) } else { (x + 7.0, Anchor::Start) };
        svg.text(x, (y - 6.0).max(TOP + 9.0), anchor, "label strong onset-text", name);
    }

    /// What the script needs to show the values under the pointer.
    fn data(&self) -> String {
        let lines: Vec<_> = self
            .lines
            .iter()
            .map(|l| {
                let values: Vec<f64> = l.values.iter().map(|&v| four_digits(v)).collect();
                json!({"name": l.name, "class": l.pen.class, "values": values})
            })
            .collect();
        json!({"box": self.frame().edges(), "steps": self.steps(), "lines": lines}).to_string()
    }
}

/// Four significant digits: enough to read, and short.
fn four_digits(value: f64) -> f64 {
    format!("{value:.3e}").parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plot(values: Vec<f64>) -> Plot {
        Plot {
            title: "t".into(),
            what: "step".into(),
            axis: Axis::linear(0.0, 1.0),
            lines: vec![Line {
                name: "a".into(),
                note: "(note)".into(),
                pen: Pen::detector(0),
                width: 1.0,
                values,
                band: vec![(0.0, 1.0); 2],
            }],
            levels: ["q95", "max"].map(|n| Level { name: n.into(), value: 0.5, main: false }).into(),
            onset: Some((1, "onset".into())),
            mark: None,
            size: (400.0, 200.0),
        }
    }

    #[test]
    fn a_line_goes_where_its_values_say() {
        let svg = plot(vec![0.0, 1.0, 0.5]).inside();
        assert!(svg.contains("M50 166L191 42L332 104"), "{svg}");
        assert!(svg.contains("&quot;values&quot;:[0.0,1.0,0.5]"), "{svg}");
    }

    #[test]
    fn alone_it_has_a_legend_and_no_data_for_a_script() {
        let svg = plot(vec![0.0]).alone();
        assert!(svg.contains(">a (note)</text>") && !svg.contains("data-chart"), "{svg}");
    }

    #[test]
    fn names_of_equal_levels_do_not_cover_each_other() {
        assert_eq!(plot(vec![0.0, 1.0]).label_places(), [104.0, 92.0]);
    }

    #[test]
    fn nothing_to_draw_is_no_panic() {
        assert!(plot(Vec::new()).inside().ends_with("</svg>"));
    }
}
