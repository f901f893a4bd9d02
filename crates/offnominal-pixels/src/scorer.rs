//! What scores the pixels of images: a method that was fitted, several of them together, or files.

use crate::data_set::{Labels, Sample};
use crate::maps::ScoreMaps;
use crate::output::NetworkOutput;
use anyhow::{Context as _, Result};
use offnominal_detectors::pixel::{Needs, PixelError, PixelScorer};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

/// What scores the pixels of images.
pub struct Scorer {
    /// The name of the method.
    pub id: String,
    /// What it saw before it was judged.
    pub seen: SeenUnknowns,
    source: Source,
}

/// Unknown pixels that a method saw before it was judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SeenUnknowns {
    /// Some of the images that are like the judged ones.
    pub unknown: bool,
    /// Things that were pasted into known images.
    pub pasted: bool,
}

/// Where scores come from.
enum Source {
    /// The output of a network, and a method that was fitted.
    Method(Arc<FittedMethod>),
    /// The sum of such scores, each in deviations from its mean over known pixels.
    Sum(Vec<Term>),
    /// Files.
    Maps(ScoreMaps),
}

/// A part of a sum.
pub(crate) struct Term {
    pub method: Arc<FittedMethod>,
    pub mean: f64,
    pub deviation: f64,
}

/// A method that can score.
pub(crate) struct FittedMethod {
    pub id: String,
    pub needs: Needs,
    /// `[channels, rows, columns]` of the features on which it was fitted, if it was fitted on some.
    pub like: Option<[usize; 3]>,
    pub scorer: Box<dyn PixelScorer>,
}

impl FittedMethod {
    /// The score of each pixel.
    ///
    /// # Errors
    /// If the output lacks what is needed, or is not like what the method was fitted on.
    pub fn scores(&self, output: &NetworkOutput) -> Result<Vec<f32>> {
        check(self.needs, output, self.like).with_context(|| self.id.clone())?;
        let mut scores = vec![0.0; output.view().pixels()];
        self.scorer.score(&output.view(), &mut scores);
        Ok(scores)
    }
}

/// Whether an output has what is needed, with features like those of the images on which a method is fitted.
pub(crate) fn check(
    needs: Needs,
    output: &NetworkOutput,
    like: Option<[usize; 3]>,
) -> Result<(), PixelError> {
    needs.check(&output.view())?;
    like.map_or(Ok(()), |like| needs.check_like(&output.view(), like))
}

impl Scorer {
    /// One that reads files.
    pub fn of_maps(maps: ScoreMaps) -> Scorer {
        Scorer { id: maps.id.clone(), seen: SeenUnknowns::default(), source: Source::Maps(maps) }
    }

    /// A method.
    pub(crate) fn of_method(method: Arc<FittedMethod>, chosen_on_unknown: bool) -> Scorer {
        let unknown = method.id == "odin" && chosen_on_unknown;
        let seen = SeenUnknowns { unknown, pasted: method.needs.outliers };
        Scorer { id: method.id.clone(), seen, source: Source::Method(method) }
    }

    /// Several methods.
    pub(crate) fn of_terms(terms: Vec<Term>, chosen_on_unknown: bool) -> Scorer {
        let ids: Vec<&str> = terms.iter().map(|term| term.method.id.as_str()).collect();
        let unknown = ids.contains(&"odin") && chosen_on_unknown;
        let seen = SeenUnknowns { unknown, pasted: terms.iter().any(|term| term.method.needs.outliers) };
        Scorer { id: ids.join("+"), seen, source: Source::Sum(terms) }
    }

    /// Whether it can score other images than those of the data set.
    pub fn reads_network(&self) -> bool {
        !matches!(self.source, Source::Maps(_))
    }

    /// The score of each pixel of an image, higher where it is more likely to be unknown.
    ///
    /// # Errors
    /// If the output lacks what is needed or is not like what the method was fitted on, or there is no score map.
    pub fn scores(&self, image: &Image<'_>) -> Result<Vec<f32>> {
        match &self.source {
            Source::Maps(maps) => maps.read(image.sample, image.labels),
            Source::Method(method) => Ok(image.scores(method)?.to_vec()),
            Source::Sum(terms) => {
                let mut sum = vec![0.0; image.output.view().pixels()];
                for term in terms {
                    let scores = image.scores(&term.method)?;
                    let standard = |s: f32| ((f64::from(s) - term.mean) / term.deviation) as f32;
                    sum.iter_mut().zip(scores.iter()).for_each(|(sum, &s)| *sum += standard(s));
                }
                Ok(sum)
            }
        }
    }
}

/// An image to score. What a method says of it is computed once, however many sums the method is a part of.
pub struct Image<'a> {
    sample: &'a Sample,
    labels: &'a Labels,
    output: &'a NetworkOutput,
    /// Scores by the id of the method: all scorers of an image come from one fitter.
    scores: RefCell<BTreeMap<String, Rc<[f32]>>>,
}

impl<'a> Image<'a> {
    /// Of which nothing is scored yet.
    pub fn new(sample: &'a Sample, labels: &'a Labels, output: &'a NetworkOutput) -> Image<'a> {
        Image { sample, labels, output, scores: RefCell::default() }
    }

    fn scores(&self, method: &FittedMethod) -> Result<Rc<[f32]>> {
        if let Some(scores) = self.scores.borrow().get(&method.id) {
            return Ok(Rc::clone(scores));
        }
        let scores: Rc<[f32]> = method.scores(self.output)?.into();
        self.scores.borrow_mut().insert(method.id.clone(), Rc::clone(&scores));
        Ok(scores)
    }
}
