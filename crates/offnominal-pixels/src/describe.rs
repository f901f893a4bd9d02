//! What a data set is made of: shares of classes, of unknown and ignored pixels, of boundaries; and how far one gets by
//! colour alone.

use crate::data_set::{DataSet, Labels};
use crate::inputs::Reading;
use crate::layout::ImageFolder;
use anyhow::{Context as _, Result};
use clap::Args;
use offnominal_core::Seed;
use offnominal_core::estimate::Estimate;
use offnominal_engine::context::Context;
use offnominal_files::write;
use offnominal_stats::pixel::Images;
use offnominal_stats::{Bootstrap, Level};
use serde::Serialize;
use serde_json::json;
use std::fmt::{self, Display, Formatter};
use std::path::PathBuf;

/// What to describe; the seed is that of the context.
#[derive(Debug, Clone, PartialEq, Serialize, Args)]
pub struct Request {
    /// Data set
    #[arg(long, value_name = "DIR")]
    pub data: ImageFolder,
    /// Nominal images; adds the AUROC of colour frequency alone
    #[arg(long, value_name = "DIR")]
    pub nominal: Option<ImageFolder>,
    /// Folder for description.json [default: print only]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// How data sets are read.
    #[command(flatten)]
    pub reading: Reading,
}

/// Counts, and with an output folder also writes description.json.
///
/// # Errors
/// If the data cannot be read, or the file cannot be written.
pub fn run(request: &Request, context: &Context) -> Result<Description> {
    let folders: Vec<_> = [&request.data].into_iter().chain(&request.nominal).cloned().collect();
    let mut sets = request.reading.open_labelled(&folders, context)?.into_iter();
    let set = sets.next().context("no data set")?;
    let mut found = describe(&set, context)?;
    if let Some(nominal) = sets.next() {
        found.colour_auroc = Some(colour_only(&nominal, &set, Seed(context.seed))?);
    }
    if let Some(out) = &request.out {
        write::atomically(&out.join("description.json"), format!("{:#}", json!(found)).as_bytes())?;
    }
    Ok(found)
}

/// What was counted.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Description {
    /// Labelled images.
    pub images: usize,
    /// Of these, how many have unknown pixels.
    pub images_with_unknown: usize,
    /// Share of all pixels of each class, in the order of the label map.
    pub classes: Vec<(String, f64)>,
    /// Share of unknown pixels among all.
    pub unknown: f64,
    /// Share of pixels that are not judged.
    pub ignored: f64,
    /// Share of pixels beside one of another label.
    pub boundary: f64,
    /// AUROC of a detector that knows colours only; none without nominal images or unknown pixels.
    pub colour_auroc: Option<Estimate>,
}

/// Counts the labels of a data set.
///
/// # Errors
/// If labels cannot be read.
fn describe(set: &DataSet, context: &Context) -> Result<Description> {
    let counted = context.map(set.samples.len(), "images", |i| set.labels(&set.samples[i]).map(count))?;
    let (mut counts, mut boundary, mut with_unknown) = ([0_u64; 256], 0, 0);
    for (labels, edges) in &counted {
        counts.iter_mut().zip(labels).for_each(|(sum, n)| *sum += n);
        boundary += edges;
        with_unknown += usize::from(labels[usize::from(offnominal_scenes::UNKNOWN)] > 0);
    }
    let total = counts.iter().sum::<u64>().max(1) as f64;
    let share = |id: usize| counts[id] as f64 / total;
    let names = set.classes().iter().enumerate();
    Ok(Description {
        images: set.samples.len(),
        images_with_unknown: with_unknown,
        classes: names.map(|(id, name)| (name.clone(), share(id))).collect(),
        unknown: share(usize::from(offnominal_scenes::UNKNOWN)),
        ignored: share(usize::from(offnominal_scenes::IGNORED)),
        boundary: boundary as f64 / total,
        colour_auroc: None,
    })
}

/// Pixels of each label of an image, and those at a boundary.
fn count(labels: Labels) -> ([u64; 256], u64) {
    let mut counts = [0; 256];
    labels.ids.iter().for_each(|&id| counts[usize::from(id)] += 1);
    (counts, edges(&labels).filter(|&e| e).count() as u64)
}

/// Whether each pixel is beside one of another label, to the right or below.
fn edges(labels: &Labels) -> impl Iterator<Item = bool> {
    let (w, ids) = (labels.width, &labels.ids);
    (0..ids.len()).map(move |i| {
        let differs = |j: usize| ids.get(j).is_some_and(|&other| other != ids[i]);
        (i % w + 1 < w && differs(i + 1)) || differs(i + w)
    })
}

/// Bits of each colour that the colour detector keeps.
const BITS: u32 = 4;

/// The AUROC of the score −ln p(colour), with p the histogram of nominal colours. A set on which it is high can be
/// solved without knowing what anything is.
///
/// # Errors
/// If images cannot be read, or no pixel is unknown.
fn colour_only(nominal: &DataSet, set: &DataSet, seed: Seed) -> Result<Estimate> {
    let mut counts = vec![1_u32; 1 << (3 * BITS)];
    for sample in &nominal.samples {
        let labels = nominal.labels(sample)?;
        let rgb = nominal.rgb(sample, &labels)?;
        rgb.as_chunks::<3>().0.iter().for_each(|c| counts[bin(*c)] += 1);
    }
    let total: f64 = counts.iter().map(|&n| f64::from(n)).sum();
    let scores: Vec<f32> = counts.iter().map(|&n| -(f64::from(n) / total).ln() as f32).collect();
    let mut images = Images::default();
    for sample in &set.samples {
        let labels = set.labels(sample)?;
        let rgb = set.rgb(sample, &labels)?;
        let of: Vec<f32> = rgb.as_chunks::<3>().0.iter().map(|c| scores[bin(*c)]).collect();
        images.add(&of, &labels.truth)?;
    }
    let [auroc, ..] = images.pooled(&Bootstrap::new(200, Level::P95, seed))?;
    Ok(auroc)
}

fn bin(colour: [u8; 3]) -> usize {
    colour.iter().fold(0, |bin, &c| bin << BITS | usize::from(c >> (8 - BITS)))
}

impl Display for Description {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        write!(
            out,
            "{} images, {} with unknown pixels\nshare of pixels",
            self.images, self.images_with_unknown
        )?;
        let special =
            [("unknown", self.unknown), ("not judged", self.ignored), ("at a boundary", self.boundary)];
        let classes = self.classes.iter().map(|(name, share)| (name.as_str(), *share));
        for (name, share) in classes.chain(special) {
            write!(out, "\n  {name:<16}{:>7.3} %", 100.0 * share)?;
        }
        self.colour_auroc.iter().try_for_each(|auroc| write!(out, "\nAUROC by colour alone: {auroc:.3}"))
    }
}
