//! Labels as named polygons in XML, as LabelMe and SUN write them, painted in the order of the file.

use crate::label_map::{Meaning, Meanings};
use anyhow::{Context, Result, ensure};
use offnominal_core::limits::PIXELS;

/// A named outline in pixels.
#[derive(Debug, Clone, PartialEq)]
pub struct Polygon {
    /// What it is.
    pub name: String,
    /// Its corners.
    pub corners: Vec<[f64; 2]>,
}

/// An annotated image.
#[derive(Debug, Clone, PartialEq)]
pub struct Annotation {
    /// Pixels per row.
    pub width: usize,
    /// Rows.
    pub height: usize,
    /// The polygons, in the order in which they are painted.
    pub polygons: Vec<Polygon>,
}

/// Reads an annotation. Polygons that somebody anonymous drew, and deleted ones, are left out, as in the paper.
///
/// # Errors
/// If the text is no such annotation.
pub fn parse(text: &str) -> Result<Annotation> {
    let options = roxmltree::ParsingOptions { nodes_limit: MOST_NODES, ..Default::default() };
    let document =
        roxmltree::Document::parse_with_options(text, options).context("expected an XML annotation")?;
    let size = |name: &str| -> Result<usize> {
        let value = document.descendants().find(|n| n.has_tag_name(name)).and_then(|n| n.text());
        let value = value.with_context(|| format!("the annotation lacks <{name}>"))?.trim();
        let size = value.parse().with_context(|| format!("<{name}>: expected a number, found {value:?}"))?;
        ensure!((1..=20_000).contains(&size), "<{name}>: expected 1 to 20000 pixels, found {size}");
        Ok(size)
    };
    let objects = document.root_element().children().filter(|n| n.has_tag_name("object"));
    let polygons: Vec<Polygon> = objects.filter_map(polygon).collect();
    let (width, height): (usize, usize) = (size("ncols")?, size("nrows")?);
    let corners: usize = polygons.iter().map(|p| p.corners.len()).sum();
    ensure!(width * height <= PIXELS, "expected at most {PIXELS} pixels, found {width} × {height}");
    let work = corners.saturating_mul(height);
    ensure!(work <= MOST_WORK, "expected at most {MOST_WORK} corners times rows, found {work}");
    Ok(Annotation { width, height, polygons })
}

/// Elements and texts in an annotation; the largest public ones have some ten thousand.
const MOST_NODES: u32 = 1_000_000;

/// Corners times rows: a few seconds of painting.
const MOST_WORK: usize = 1 << 30;

fn text<'a>(node: roxmltree::Node<'a, 'a>, name: &str) -> Option<&'a str> {
    node.descendants().find(|n| n.has_tag_name(name)).and_then(|n| n.text()).map(str::trim)
}

fn number(point: roxmltree::Node<'_, '_>, name: &str) -> Option<f64> {
    point.children().find(|n| n.has_tag_name(name))?.text()?.trim().parse().ok()
}

fn polygon(object: roxmltree::Node<'_, '_>) -> Option<Polygon> {
    let is_deleted = text(object, "deleted") == Some("1");
    let is_anonymous = text(object, "username").is_some_and(|name| name.eq_ignore_ascii_case("anonymous"));
    if is_deleted || is_anonymous {
        return None;
    }
    let corner = |pt: roxmltree::Node<'_, '_>| Some([number(pt, "x")?, number(pt, "y")?]);
    let corners: Vec<[f64; 2]> =
        object.descendants().filter(|n| n.has_tag_name("pt")).filter_map(corner).collect();
    let name = text(object, "name")?.to_lowercase();
    (corners.len() >= 3).then_some(Polygon { name, corners })
}

impl Annotation {
    /// Paints the polygons; what none covers is not judged.
    ///
    /// # Errors
    /// If a name is not in the label map and must be.
    pub fn paint(&self, meanings: &Meanings) -> Result<Vec<Meaning>> {
        let names = meanings.of_all(self.polygons.iter().map(|p| p.name.as_str()))?;
        let mut pixels = vec![Meaning::Ignored; self.width * self.height];
        for (polygon, meaning) in self.polygons.iter().zip(names) {
            for (row, line) in pixels.chunks_exact_mut(self.width).enumerate() {
                for span in polygon.crossings(row as f64 + 0.5).as_chunks::<2>().0 {
                    let clip = |x: f64| ((x - 0.5).ceil().max(0.0) as usize).min(line.len());
                    let (from, to) = (clip(span[0]), clip(span[1]));
                    line[from..to.max(from)].fill(meaning);
                }
            }
        }
        Ok(pixels)
    }
}

impl Polygon {
    /// Where a horizontal line crosses the outline, in order.
    fn crossings(&self, y: f64) -> Vec<f64> {
        let ends = self.corners.iter().cycle().skip(1);
        let edges = self.corners.iter().zip(ends).filter(|(a, b)| (a[1] < y) != (b[1] < y));
        let mut all: Vec<f64> =
            edges.map(|(a, b)| a[0] + (y - a[1]) / (b[1] - a[1]) * (b[0] - a[0])).collect();
        all.sort_by(f64::total_cmp);
        all
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::label_map::LabelMap;

    /// A car over a road, and something that an anonymous person drew.
    pub(crate) const XML: &str = "<annotation><imagesize><nrows>4</nrows><ncols>6</ncols></imagesize>
        <object><name>Road</name><deleted>0</deleted><polygon><username>ann</username>
        <pt><x>0</x><y>2</y></pt><pt><x>6</x><y>2</y></pt><pt><x>6</x><y>4</y></pt><pt><x>0</x><y>4</y></pt></polygon></object>
        <object><name>vase</name><polygon><username>bob</username>
        <pt><x>1</x><y>1</y></pt><pt><x>3</x><y>1</y></pt><pt><x>3</x><y>3</y></pt><pt><x>1</x><y>3</y></pt></polygon></object>
        <object><name>sky</name><polygon><username>anonymous</username>
        <pt><x>0</x><y>0</y></pt><pt><x>6</x><y>0</y></pt><pt><x>6</x><y>4</y></pt></polygon></object></annotation>";

    #[test]
    fn later_polygons_cover_earlier_ones_and_anonymous_ones_do_not_count() {
        let meanings =
            toml::from_str::<LabelMap>("classes = ['road']\notherwise = 'unknown'").unwrap().check().unwrap();
        let ids: Vec<u8> = parse(XML).unwrap().paint(&meanings).unwrap().iter().map(|m| m.id()).collect();
        let want = [[255; 6], [255, 254, 254, 255, 255, 255], [0, 254, 254, 0, 0, 0], [0; 6]];
        assert_eq!(ids, want.concat());
    }

    #[test]
    fn damaged_annotations_are_refused() {
        assert!(parse("<annotation>").unwrap_err().to_string().contains("XML"));
        let error = parse("<annotation><nrows>4</nrows></annotation>").unwrap_err().to_string();
        assert!(error.contains("lacks <ncols>"), "{error}");
        let huge = XML.replace("<nrows>4", "<nrows>20000").replace("<ncols>6", "<ncols>20000");
        assert!(parse(&huge).unwrap_err().to_string().contains("at most 67108864 pixels"));
        assert!(parse(&XML.replace("<nrows>4", "<nrows>many")).unwrap_err().to_string().contains("nrows"));
    }
}
