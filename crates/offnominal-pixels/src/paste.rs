//! Things pasted into the images of a data set, as a data set: what `outlier-head` learns from.
//!
//! A thing is a random `shape` with a random `surface`: a plain colour, stripes, checks, blotches, or
//! a piece of another image of the data set. It stands on the pixel below its middle: the lower it stands, the larger it is,
//! as on a plane before a camera. It is as bright as what surrounds it, its edges are soft, and a shadow lies below it. The
//! pixels of a thing have the label 254, those of its edge are not judged.
//!
//! Known things may get other colours before (`recolour`), as they have them elsewhere.

mod recolour;
mod shape;
mod surface;

use crate::data_set::{DataSet, Labels};
use crate::inputs::Reading;
use crate::label_map::{KNOWN_ANY, LabelMap, Otherwise};
use crate::layout::ImageFolder;
use crate::written::{Written, data_set, write_image};
use anyhow::Result;
use clap::Args;
use offnominal_core::{Rng, Seed};
use offnominal_engine::context::Context;
use offnominal_engine::request::within;
use offnominal_files::image_file::{colours, grey};
use offnominal_scenes::{IGNORED, UNKNOWN};
use recolour::recolour;
use serde::Serialize;
pub(crate) use shape::Shape;
use std::path::PathBuf;
use surface::{Surface, light};

// What is pasted must have the label from which methods learn.
const _: () = assert!(UNKNOWN == offnominal_detectors::pixel::UNKNOWN);

/// Name of the list of what was pasted.
const LIST: &str = "pasted.json";

/// Most things in an image, of which there are one to so many.
const MOST_THINGS: usize = 3;

/// What to paste; the seed is that of the context.
#[derive(Debug, Clone, PartialEq, Serialize, Args)]
pub struct Request {
    /// Data set with images
    #[arg(long, value_name = "DIR")]
    pub data: ImageFolder,
    /// How data sets are read.
    #[command(flatten)]
    pub reading: Reading,
    /// Probability of recolouring bright parts of a known class
    #[arg(long, default_value_t = 0.0, value_name = "SHARE")]
    pub recolour: f64,
    /// New folder
    #[arg(long, value_name = "DIR", default_value = "runs/pasted")]
    pub out: PathBuf,
}

/// A record of an image.
#[derive(Debug, Serialize)]
struct Pasted {
    name: String,
    things: usize,
}

/// Writes images and labels in our own layout.
///
/// # Errors
/// If the data cannot be read, the number is out of range, or the folder exists or cannot be written.
pub fn run(request: &Request, context: &Context) -> Result<Written> {
    within("recolour", request.recolour, 0.0..=1.0)?;
    let set = request.reading.open_labelled(std::slice::from_ref(&request.data), context)?.remove(0);
    // Apart, so that the same things are pasted whatever is recoloured.
    let [seed, colours_seed] = ["paste", "recolour"].map(|name| Seed(context.seed).child(name));
    let list = data_set(&request.out, &["images", "labels"], &label_map(&set), LIST, |root| {
        context.map(set.samples.len(), "images", |i| {
            let sample = &set.samples[i];
            let mut labels = set.labels(sample)?;
            let mut rgb = set.rgb(sample, &labels)?;
            let mut rng = seed.child(sample.name.as_str()).rng();
            let mut of_colours = colours_seed.child(sample.name.as_str()).rng();
            recolour(&mut rgb, &labels, set.classes().len(), request.recolour, &mut of_colours);
            let other = &set.samples[rng.below(set.samples.len())];
            let pieces = set.labels(other).and_then(|labels| Ok((set.rgb(other, &labels)?, labels.width)))?;
            let things = 1 + rng.below(MOST_THINGS);
            (0..things).for_each(|_| paste(&mut rgb, &mut labels, (&pieces.0, pieces.1), &mut rng));
            let name = sample.name.replace('/', "_");
            write_image(root, "images", &name, &colours(labels.width, labels.height, &rgb)?)?;
            write_image(root, "labels", &name, &grey(labels.width, labels.height, &labels.ids)?)?;
            Ok(Pasted { name, things })
        })
    })?;
    Ok(Written { folder: request.out.clone(), images: list.len() })
}

/// What the numbers of the labels mean.
fn label_map(set: &DataSet) -> LabelMap {
    let known = set.classes().iter().enumerate().map(|(id, name)| (name.clone(), vec![id.to_string()]));
    let colour = |(id, name): (usize, &String)| {
        let [r, g, b] = set.colour(id as u8);
        (name.clone(), format!("#{r:02x}{g:02x}{b:02x}"))
    };
    LabelMap {
        classes: set.classes().to_vec(),
        unknown: vec![UNKNOWN.to_string()],
        ignore: vec![IGNORED.to_string()],
        known_any: vec![KNOWN_ANY.to_string()],
        otherwise: Otherwise::Error,
        colours: set.classes().iter().enumerate().map(colour).collect(),
        known: known.collect(),
    }
}

/// Pastes a thing into an image `[height, width, 3]` and its labels. `pieces` is another image and its width.
pub(crate) fn paste(rgb: &mut [u8], labels: &mut Labels, pieces: (&[u8], usize), rng: &mut Rng) {
    let shape = Shape::draw(labels.width, labels.height, rng);
    paste_shape(rgb, labels, &shape, pieces, rng);
}

/// Pastes a thing of some shape.
pub(crate) fn paste_shape(
    rgb: &mut [u8],
    labels: &mut Labels,
    shape: &Shape,
    pieces: (&[u8], usize),
    rng: &mut Rng,
) {
    let light = mean_light(rgb, labels.width, shape);
    let surface = Surface::draw(pieces, light, rng);
    shade(rgb, labels.width, shape);
    for (pixel, cover) in shape.pixels(labels.width, labels.height) {
        let (row, column) = (pixel / labels.width, pixel % labels.width);
        let colour = surface.at(row, column, rng);
        for (value, colour) in rgb[3 * pixel..3 * pixel + 3].iter_mut().zip(colour) {
            *value = (f32::from(*value) * (1.0 - cover) + colour * cover).round() as u8;
        }
        let is_edge = (0.05..0.95).contains(&cover);
        if cover >= 0.05 {
            labels.ids[pixel] = if is_edge { IGNORED } else { UNKNOWN };
        }
    }
}

/// Mean brightness around a shape, from 0 to 255.
fn mean_light(rgb: &[u8], width: usize, shape: &Shape) -> f32 {
    let (rows, columns) = shape.surroundings(width, rgb.len() / 3 / width);
    let pixels = rows.flat_map(|row| columns.clone().map(move |column| row * width + column));
    let (sum, n) = pixels.fold((0.0, 0.0), |(sum, n), at| (sum + light(rgb, at), n + 1.0));
    sum / f32::max(n, 1.0)
}

/// Darkens a flat ellipse below a shape.
fn shade(rgb: &mut [u8], width: usize, shape: &Shape) {
    for (pixel, cover) in shape.shadow(width, rgb.len() / 3 / width) {
        for value in &mut rgb[3 * pixel..3 * pixel + 3] {
            *value = (f32::from(*value) * (1.0 - 0.45 * cover)) as u8;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use offnominal_stats::pixel::Truth;

    #[test]
    fn a_thing_is_unknown_its_edge_is_not_judged_and_the_rest_keeps_its_label() {
        let (width, height) = (192, 96);
        let n = width * height;
        let before: Vec<u8> = (0..3 * n).map(|i| (i * 7 % 200) as u8).collect();
        let mut areas = Vec::new();
        for seed in 0..60 {
            let mut rgb = before.clone();
            let mut labels = Labels { width, height, ids: vec![2; n], truth: vec![Truth::Known; n] };
            paste(&mut rgb, &mut labels, (&before, width), &mut Rng::new(seed));
            assert!(labels.ids.iter().all(|id| [2, UNKNOWN, IGNORED].contains(id)));
            let count = |id: u8| labels.ids.iter().filter(|&&found| found == id).count();
            assert!(count(IGNORED) > 0 && count(2) > n / 2);
            let changed = (0..n).filter(|&i| rgb[3 * i..3 * i + 3] != before[3 * i..3 * i + 3]).count();
            assert!(changed >= count(UNKNOWN) && changed < n / 2, "{changed}");
            areas.push(count(UNKNOWN));
        }
        areas.sort_unstable();
        assert!(areas[5] > 4 && areas[30] > 40, "{areas:?}");
    }
}
