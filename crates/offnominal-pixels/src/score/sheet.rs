//! The contact sheet: the images that a method finds most in, one beside the other.

use super::{ImageScores, MethodScores, Scores};
use crate::resize::{Size, bilinear};
use anyhow::Result;
use minijinja::Value;
use offnominal_files::provenance::Provenance;
use offnominal_files::{image_file, write};
use offnominal_report::page::{embedded, render};
use serde::Serialize;

/// The name of the page.
pub const PAGE: &str = "scores.html";
/// Images of each method that are shown.
const SHOWN: usize = 60;
/// The longer side of an image on the page has at most so many pixels.
const LONGEST: usize = 240;
/// Colours are shown in steps of so many levels, which makes a file a third as large.
const STEP: u8 = 12;

/// Small pictures of an image, one for each method: PNG files.
pub type Thumbnails = Vec<Vec<u8>>;

/// A picture, made small.
///
/// # Errors
/// If it is empty.
pub fn thumbnail(rgb: &[u8], size: Size) -> Result<Vec<u8>> {
    let small = size.at_most(LONGEST);
    let rgb = if small == size { rgb.to_vec() } else { bilinear(rgb, size, small) };
    let rgb: Vec<u8> = rgb.into_iter().map(|level| (level / STEP * STEP).saturating_add(STEP / 2)).collect();
    image_file::small_colours(small.width, small.height, &rgb)
}

/// What the template sees.
#[derive(Serialize)]
struct Page {
    made: Provenance,
    facts: Vec<(&'static str, String)>,
    methods: Vec<Section>,
    left_out: Vec<String>,
}

#[derive(Serialize)]
struct Section {
    name: String,
    threshold: String,
    more: usize,
    images: Vec<(Value, String)>,
}

/// Writes the page.
///
/// # Errors
/// If it cannot be written.
pub fn write(scores: &Scores, drawn: &[Thumbnails]) -> Result<()> {
    let section = |(i, method)| section(method, &drawn.iter().map(|of| &of[i]).collect::<Vec<_>>());
    let page = Page {
        made: scores.made.clone(),
        facts: vec![
            ("Images", scores.images.to_string()),
            ("Layout", scores.layout.name().into()),
            ("Left out", scores.left_out.len().to_string()),
        ],
        methods: scores.methods.iter().enumerate().map(section).collect(),
        left_out: scores.left_out.clone(),
    };
    let html = render(&[("scores.html", include_str!("../../templates/scores.html"))], page)?;
    write::atomically(&scores.folder.join(PAGE), html.as_bytes())
}

fn section(method: &MethodScores, drawn: &[&Vec<u8>]) -> Section {
    let mut order: Vec<usize> = (0..drawn.len()).collect();
    order.sort_by(|&a, &b| rank(&method.images[b]).total_cmp(&rank(&method.images[a])));
    let shown = order.iter().take(SHOWN);
    Section {
        name: method.method.clone(),
        threshold: method.threshold.as_ref().map_or("no threshold".into(), ToString::to_string),
        more: drawn.len().saturating_sub(SHOWN),
        images: shown.map(|&i| (embedded("png", drawn[i]), caption(&method.images[i]))).collect(),
    }
}

/// The pixels of the largest component; below all of these, the largest score.
fn rank(image: &ImageScores) -> f64 {
    match image.components.first() {
        Some(found) => found.pixels as f64,
        // From 0 to 1, in the order of the scores.
        None => 0.5 + f64::from(image.largest_score).atan() / std::f64::consts::PI,
    }
}

fn caption(image: &ImageScores) -> String {
    let ImageScores { image, largest_score, components, .. } = image;
    let n = match components.len() {
        0 => String::new(),
        1 => "1 component, ".into(),
        n => format!("{n} components, "),
    };
    format!("{image}: {n}largest score {largest_score:.4}")
}
