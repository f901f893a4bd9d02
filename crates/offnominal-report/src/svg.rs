//! A small writer of SVG.
//!
//! Every mark carries a class, so that the page's style sheet can repaint it for dark paper, and plain attributes,
//! so that a file of its own looks right in any viewer.

use crate::colour::Pen;
use std::fmt::Write;

/// Which point of a text its position names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Anchor {
    /// Left end.
    Start,
    /// Middle.
    Middle,
    /// Right end.
    End,
}

/// An image in progress.
#[derive(Debug, Clone)]
pub struct Svg {
    text: String,
}

const FONT: &str = "system-ui, 'Segoe UI', 'Helvetica Neue', Arial, sans-serif";
const INK: &str = "#3a3d42";

impl Svg {
    /// Starts an image; `title` is what a screen reader says.
    pub fn new(width: f64, height: f64, title: &str) -> Svg {
        let (width, height, title) = (coordinate(width), coordinate(height), escape(title));
        let text = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
             height=\"{height}\" role=\"img\" aria-label=\"{title}\" font-family=\"{FONT}\" font-size=\"11\">"
        );
        Svg { text }
    }

    /// Starts an image with a white ground, for a file of its own.
    pub fn alone(width: f64, height: f64, title: &str) -> Svg {
        let mut svg = Svg::new(width, height, title);
        svg.rectangle((0.0, 0.0), (width, height), "#ffffff");
        svg
    }

    /// A line of text. Class `title` is large, `strong` bold.
    pub fn text(&mut self, x: f64, y: f64, anchor: Anchor, class: &str, text: &str) {
        let anchor = match anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        let heavy = class.split(' ').any(|c| c == "title" || c == "strong");
        let weight = if heavy { " font-weight=\"600\"" } else { "" };
        let (x, y, text) = (coordinate(x), coordinate(y), escape(text));
        self.push(format_args!(
            "<text x=\"{x}\" y=\"{y}\" text-anchor=\"{anchor}\" class=\"{class}\" fill=\"{INK}\"{weight}>{text}</text>"
        ));
    }

    /// A filled rectangle.
    pub fn rectangle(&mut self, at: (f64, f64), size: (f64, f64), fill: &str) {
        let [x, y, w, h] = [at.0, at.1, size.0, size.1].map(coordinate);
        self.push(format_args!("<rect x=\"{x}\" y=\"{y}\" width=\"{w}\" height=\"{h}\" fill=\"{fill}\"/>"));
    }

    /// A bar that stands on `foot` and is `height` high, drawn by the pen of a line: where colours come round again, its
    /// dashes are stripes.
    pub fn bar(&mut self, foot: (f64, f64), height: f64, width: f64, pen: &Pen) {
        // From the top, for the pattern begins with a dash, and the height must be seen.
        let Pen { class, colour, dash } = pen;
        let (x, top) = (foot.0 + 0.5 * width, foot.1 - height);
        self.segment((x, top), (x, foot.1), &Stroke { class, colour, width, dash });
    }

    /// A tinted rectangle whose colour the style sheet may change.
    pub fn tint(&mut self, at: (f64, f64), size: (f64, f64), class: &str, fill: &str) {
        let [x, y, w, h] = [at.0, at.1, size.0, size.1].map(coordinate);
        self.push(format_args!(
            "<rect x=\"{x}\" y=\"{y}\" width=\"{w}\" height=\"{h}\" class=\"{class}\" fill=\"{fill}\" \
             fill-opacity=\"0.09\"/>"
        ));
    }

    /// A straight line.
    pub fn segment(&mut self, from: (f64, f64), to: (f64, f64), stroke: &Stroke) {
        let [x1, y1, x2, y2] = [from.0, from.1, to.0, to.1].map(coordinate);
        self.push(format_args!("<line x1=\"{x1}\" y1=\"{y1}\" x2=\"{x2}\" y2=\"{y2}\"{stroke}/>"));
    }

    /// A line through points.
    pub fn path(&mut self, points: &[(f64, f64)], stroke: &Stroke) {
        let path = path_data(points);
        self.push(format_args!("<path d=\"{path}\" fill=\"none\" stroke-linejoin=\"round\"{stroke}/>"));
    }

    /// A filled area between an upper and a lower line.
    pub fn band(&mut self, upper: &[(f64, f64)], lower: &[(f64, f64)], class: &str, fill: &str) {
        let outline: Vec<(f64, f64)> = upper.iter().chain(lower.iter().rev()).copied().collect();
        let path = path_data(&outline);
        self.push(format_args!(
            "<path d=\"{path}Z\" class=\"{class} band\" fill=\"{fill}\" fill-opacity=\"0.13\" stroke=\"none\"/>"
        ));
    }

    /// A dot.
    pub fn dot(&mut self, at: (f64, f64), class: &str, fill: &str) {
        let (x, y) = (coordinate(at.0), coordinate(at.1));
        self.push(format_args!(
            "<circle cx=\"{x}\" cy=\"{y}\" r=\"3.5\" class=\"{class}\" fill=\"{fill}\"/>"
        ));
    }

    /// A dot that a page can answer to: the body that it stands for, and what hovering says.
    pub fn point(&mut self, at: (f64, f64), class: &str, fill: &str, body: &str, says: &str) {
        let (x, y, body, says) = (coordinate(at.0), coordinate(at.1), escape(body), escape(says));
        self.push(format_args!(
            "<circle cx=\"{x}\" cy=\"{y}\" r=\"2.6\" class=\"{class} point\" fill=\"{fill}\" \
             fill-opacity=\"0.6\" data-body=\"{body}\"><title>{says}</title></circle>"
        ));
    }

    /// Data for the page's script, as attribute of an invisible mark.
    pub fn data(&mut self, json: &str) {
        let json = escape(json);
        self.push(format_args!("<g class=\"data\" data-chart=\"{json}\"/>"));
    }

    /// Begins a part of the image, between its left, top, right and bottom edge, that a page may show a stretch of: coordinates
    /// stay the same, and what lies outside is cut off.
    pub fn begin_plane(&mut self, [left, top, right, bottom]: [f64; 4]) {
        let [x, y, w, h] = [left, top, right - left, bottom - top].map(coordinate);
        self.push(format_args!(
            "<svg class=\"plane\" x=\"{x}\" y=\"{y}\" width=\"{w}\" height=\"{h}\" viewBox=\"{x} {y} {w} {h}\" \
             preserveAspectRatio=\"none\">"
        ));
    }

    /// Ends it.
    pub fn end_plane(&mut self) {
        self.text.push_str("</svg>");
    }

    /// The finished image.
    pub fn end(mut self) -> String {
        self.text.push_str("</svg>");
        self.text
    }

    fn push(&mut self, mark: std::fmt::Arguments) {
        self.text.write_fmt(mark).expect("a string takes everything");
    }
}

/// How a line looks.
#[derive(Debug, Clone, Copy)]
pub struct Stroke<'a> {
    /// Name in the style sheet.
    pub class: &'a str,
    /// Colour without style sheet.
    pub colour: &'a str,
    /// Width in pixels.
    pub width: f64,
    /// Lengths of dashes and gaps; empty for a full line.
    pub dash: &'a str,
}

impl std::fmt::Display for Stroke<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Stroke { class, colour, width, dash } = self;
        write!(f, " class=\"{class}\" stroke=\"{colour}\" stroke-width=\"{width}\"")?;
        if dash.is_empty() { Ok(()) } else { write!(f, " stroke-dasharray=\"{dash}\"") }
    }
}

fn path_data(points: &[(f64, f64)]) -> String {
    let mut path = String::with_capacity(12 * points.len());
    for (i, &(x, y)) in points.iter().enumerate() {
        path.push(if i == 0 { 'M' } else { 'L' });
        path.push_str(&coordinate(x));
        path.push(' ');
        path.push_str(&coordinate(y));
    }
    path
}

/// A tenth of a pixel is enough.
fn coordinate(value: f64) -> String {
    let text = format!("{value:.1}");
    text.strip_suffix(".0").map_or(text.clone(), str::to_string)
}

/// Text as it may stand inside an element or an attribute.
pub fn escape(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            c => safe.push(c),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_from_outside_stays_text() {
        let mut svg = Svg::new(10.0, 10.0, "\"><script>");
        svg.text(0.0, 0.0, Anchor::Start, "label", "<b>&");
        let svg = svg.end();
        assert!(svg.contains("&lt;b&gt;&amp;") && svg.contains("&quot;&gt;&lt;script&gt;"), "{svg}");
        assert!(!svg.contains("<script>"));
    }

    #[test]
    fn bars_have_their_height_and_the_stripes_of_their_pen() {
        let bar = |number| {
            let mut svg = Svg::new(10.0, 10.0, "");
            svg.bar((2.0, 9.0), 5.0, 4.0, &Pen::detector(number));
            svg.end()
        };
        let place = "<line x1=\"4\" y1=\"4\" x2=\"4\" y2=\"9\"";
        assert!(bar(0).contains(place) && bar(0).contains("stroke-width=\"4\""), "{}", bar(0));
        assert!(!bar(0).contains("dasharray") && bar(7).contains("stroke-dasharray=\"7 3\""), "{}", bar(7));
    }

    #[test]
    fn coordinates_are_short() {
        assert_eq!(path_data(&[(0.0, 1.04), (12.25, 3.0)]), "M0 1L12.2 3");
    }
}
