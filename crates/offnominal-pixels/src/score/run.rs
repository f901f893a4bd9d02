//! Scores images twice over: first the maps, then, on the scale that all of a method share, the pictures.

use super::overlay::overlay;
use super::sheet::{self, Thumbnails};
use super::threshold::hold_out;
use super::{Found, ImageScores, MapFormat, MethodScores, Request, Scores, Threshold};
use crate::data_set::{DataSet, Labels, Sample, Unreadable};
use crate::fit::{Fitter, FittingImages, check_params};
use crate::heat::Scale;
use crate::inputs::tell_left_out;
use crate::network::Network;
use crate::scorer::{Image, Scorer};
use anyhow::{Context as _, Result, anyhow, ensure};
use offnominal_core::Seed;
use offnominal_engine::context::Context;
use offnominal_engine::request::{positive, within};
use offnominal_files::provenance::Provenance;
use offnominal_files::{array, image_file, write};
use serde_json::json;

/// Scores of an image that are kept to find the scale.
const SAMPLED: usize = 1000;

/// Writes the maps, pictures of them, scores.json and scores.html; larger scores are more unknown.
///
/// # Errors
/// If something that a method needs is missing, no image can be read, or a file cannot be written.
pub fn run(request: &Request, context: &Context) -> Result<Scores> {
    positive("temperature", request.temperature)?;
    request.fpr.map_or(Ok(()), |share| within("fpr", share, f64::MIN_POSITIVE..=1.0 - f64::EPSILON))?;
    check_params(&request.params, &request.methods)?;
    let seed = Seed(context.seed);
    let set = request.reading.open(&request.data)?;
    tell_left_out(&set, context);
    let network = request.network.open_for(1, seed)?;
    let mut nominal = request.nominal.open(&request.reading, &request.network, context)?;
    let held_out = match (&mut nominal, request.fpr) {
        (Some((set, _)), Some(_)) => hold_out(set)?,
        _ => Vec::new(),
    };
    ensure!(request.fpr.is_none() || nominal.is_some(), "fpr: expected nominal images, found none");
    let outliers = request.outliers.open(&request.reading, &request.network, seed)?;
    let nominal = nominal.as_ref().map(|(set, network)| (set, network));
    let images = FittingImages { nominal, outliers: outliers.as_ref().map(|(set, network)| (set, network)) };
    let odin = (request.temperature, false);
    let scorers = Fitter::new(images, &request.params, context).scorers(&request.methods, odin)?;
    let thresholds = match (request.fpr, nominal) {
        (Some(share), Some(nominal)) => {
            let all = Threshold::of_nominal(share, &scorers, nominal, &held_out, context)?;
            all.into_iter().map(Some).collect()
        }
        _ => vec![request.threshold.map(Threshold::given); scorers.len()],
    };
    Work { request, set: &set, network: &network, scorers: &scorers, thresholds, context }.run()
}

/// What is scored, and by what.
struct Work<'a> {
    request: &'a Request,
    set: &'a DataSet,
    network: &'a Network,
    scorers: &'a [Scorer],
    thresholds: Vec<Option<Threshold>>,
    context: &'a Context,
}

/// What is kept of an image: by method what lies above the threshold, and some scores; or why it is left out.
type Outcome = Result<Vec<(ImageScores, Vec<f32>)>, String>;

impl Work<'_> {
    fn run(&self) -> Result<Scores> {
        let samples = &self.set.samples;
        let outcomes = self.context.map(samples.len(), "images", |i| self.score(&samples[i]))?;
        let mut left_out = self.set.left_out.clone();
        let (mut scored, mut said) = (Vec::new(), Vec::new());
        for (sample, outcome) in samples.iter().zip(outcomes) {
            match outcome {
                Ok(by_method) => {
                    scored.push(sample);
                    said.push(by_method);
                }
                Err(why) => left_out.push(why),
            }
        }
        ensure!(
            !scored.is_empty(),
            "{}: expected images that can be read, found none: {}",
            self.set.name(),
            left_out.join("; ")
        );
        let scale = |method: usize| {
            Scale::of(said.iter().flat_map(|image| image[method].1.iter().copied()).collect())
        };
        let scales: Vec<Scale> = (0..self.scorers.len()).map(scale).collect();
        let drawn = self.context.map(scored.len(), "pictures", |i| self.draw(scored[i], &scales))?;
        let of_method = |method: usize| MethodScores {
            method: self.scorers[method].id.clone(),
            threshold: self.thresholds[method].clone(),
            images: said.iter().map(|image| image[method].0.clone()).collect(),
        };
        let scores = Scores {
            made: self.provenance()?,
            folder: self.request.out.clone(),
            layout: self.request.data.layout()?,
            images: scored.len(),
            left_out,
            methods: (0..self.scorers.len()).map(of_method).collect(),
        };
        write::atomically(&scores.folder.join("scores.json"), format!("{:#}", json!(scores)).as_bytes())?;
        sheet::write(&scores, &drawn)?;
        Ok(scores)
    }

    fn provenance(&self) -> Result<Provenance> {
        let same = Request { out: Default::default(), ..self.request.clone() };
        Ok(Provenance::new(&self.context.command, self.context.seed, &serde_json::to_vec(&same)?))
    }

    /// Writes the maps of an image. One that cannot be read is left out, for it says nothing of the others.
    fn score(&self, sample: &Sample) -> Result<Outcome> {
        let (labels, output) = match self.network.predict(self.set, sample) {
            Err(error) if error.downcast_ref::<Unreadable>().is_some() => {
                return Ok(Err(format!("{}: {:#}", sample.name, error.root_cause())));
            }
            predicted => predicted?,
        };
        let image = Image::new(sample, &labels, &output);
        let by_method = self.scorers.iter().zip(&self.thresholds).map(|(scorer, threshold)| {
            let scores = scorer.scores(&image)?;
            self.write_map(scorer, sample, &labels, &scores)?;
            let found = threshold.as_ref().map(|t| Found::all(&scores, labels.width, t.value).0);
            let about = ImageScores {
                image: sample.name.clone(),
                width: labels.width,
                height: labels.height,
                largest_score: scores.iter().copied().fold(f32::NEG_INFINITY, f32::max),
                components: found.unwrap_or_default(),
            };
            Ok((about, scores.iter().copied().step_by(scores.len().div_ceil(SAMPLED).max(1)).collect()))
        });
        by_method.collect::<Result<_>>().with_context(|| sample.name.clone()).map(Ok)
    }

    fn write_map(&self, scorer: &Scorer, sample: &Sample, labels: &Labels, scores: &[f32]) -> Result<()> {
        let shape = [labels.height, labels.width];
        let (ending, bytes) = match self.request.format {
            MapFormat::Npy => ("npy", array::to_npy(&shape, scores)),
            MapFormat::Hdf5 => ("hdf5", array::to_hdf5(&shape, scores)?),
        };
        write::atomically(&self.file(scorer, sample, ending), &bytes)
    }

    fn file(&self, scorer: &Scorer, sample: &Sample, ending: &str) -> std::path::PathBuf {
        self.request.out.join(&scorer.id).join(format!("{}.{ending}", sample.name))
    }

    /// The colours of an image; none if there are only labels, or it cannot be read, which is said.
    fn rgb(&self, sample: &Sample, labels: &Labels) -> Result<Vec<u8>> {
        match self.set.rgb(sample, labels) {
            _ if sample.image.is_none() => Ok(Vec::new()),
            Err(error) if error.downcast_ref::<Unreadable>().is_some() => {
                let why = error.root_cause();
                self.context.note(&format!("{}: its pictures show the scores alone: {why}", sample.name));
                Ok(Vec::new())
            }
            read => read,
        }
    }

    /// Draws the pictures of an image from its maps; they made small, by method.
    fn draw(&self, sample: &Sample, scales: &[Scale]) -> Result<Thumbnails> {
        let labels = self.set.labels(sample)?;
        let (size, rgb) = (labels.size(), self.rgb(sample, &labels)?);
        let ending = <&str>::from(self.request.format);
        let pictures = self.scorers.iter().zip(&self.thresholds).zip(scales);
        let draw = |((scorer, threshold), &scale): ((&Scorer, &Option<Threshold>), &Scale)| {
            let scores = array::read(&self.file(scorer, sample, ending), "value")?.values;
            let inside = match threshold {
                Some(threshold) => Found::all(&scores, size.width, threshold.value).1,
                None => vec![false; scores.len()],
            };
            ensure!(scores.len() == size.pixels(), anyhow!("{}: another command wrote its map", sample.name));
            let drawn = overlay(&rgb, &scores, scale, &inside, size);
            let png = image_file::colours(size.width, size.height, &drawn)?;
            write::atomically(&self.file(scorer, sample, "png"), &png)?;
            sheet::thumbnail(&drawn, size)
        };
        pictures.map(draw).collect()
    }
}
