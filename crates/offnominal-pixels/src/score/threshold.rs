//! Above which score pixels are called unknown: as given, or so that a share of held-out nominal pixels is above.

use crate::data_set::{DataSet, Sample};
use crate::network::Network;
use crate::scorer::{Image, Scorer};
use anyhow::{Context as _, Result, ensure};
use offnominal_engine::context::Context;
use offnominal_stats::pixel::Truth;
use serde::Serialize;
use std::fmt::{self, Display, Formatter};

/// Of so many nominal images one is held out, on which the threshold is set: a method would know what it was fitted on.
const ONE_IN: usize = 5;

/// Pixels of an image from which the threshold is set; neighbours say the same.
const PIXELS: usize = 20_000;

/// A threshold, and where it is from.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Threshold {
    /// The score.
    pub value: f64,
    /// The share of nominal pixels above it, if it was set by these.
    pub fpr: Option<f64>,
    /// Nominal images by which it was set, in which no method was fitted.
    pub images: usize,
}

/// Takes from nominal images those on which a threshold is set.
///
/// # Errors
/// If there are fewer than two.
pub(super) fn hold_out(set: &mut DataSet) -> Result<Vec<Sample>> {
    let n = set.samples.len();
    ensure!(
        n > 1,
        "--fpr: expected 2 nominal images or more, to fit on some and to set the threshold on others, found {n}"
    );
    let is_held_out = |i: usize| if n < ONE_IN { i == n - 1 } else { i % ONE_IN == ONE_IN - 1 };
    let numbered = std::mem::take(&mut set.samples).into_iter().enumerate();
    let (held_out, rest): (Vec<_>, Vec<_>) = numbered.partition(|(i, _)| is_held_out(*i));
    set.samples = rest.into_iter().map(|(_, sample)| sample).collect();
    Ok(held_out.into_iter().map(|(_, sample)| sample).collect())
}

impl Threshold {
    /// As somebody gave it.
    pub(super) fn given(value: f64) -> Threshold {
        Threshold { value, fpr: None, images: 0 }
    }

    /// Those of methods, so that a share of the known pixels of nominal images is above.
    ///
    /// # Errors
    /// If an image cannot be scored, or there are too few pixels for the share.
    pub(super) fn of_nominal(
        share: f64,
        scorers: &[Scorer],
        (set, network): (&DataSet, &Network),
        samples: &[Sample],
        context: &Context,
    ) -> Result<Vec<Threshold>> {
        let some = |i: usize| known_scores(scorers, set, network, &samples[i]);
        let of_images = context.map(samples.len(), "nominal images", some)?;
        let threshold = |method: usize| -> Result<Threshold> {
            let mut scores: Vec<f32> =
                of_images.iter().flat_map(|image| image[method].iter().copied()).collect();
            let above = (share * scores.len() as f64).floor() as usize;
            ensure!(
                above > 0,
                "--fpr: expected a share of which {} pixels have one, found {share}",
                scores.len()
            );
            let at = scores.len() - above - 1;
            let value = f64::from(*scores.select_nth_unstable_by(at, f32::total_cmp).1);
            Ok(Threshold { value, fpr: Some(share), images: samples.len() })
        };
        (0..scorers.len()).map(threshold).collect()
    }
}

/// Scores of known pixels of an image by each method, spread over the image.
fn known_scores(
    scorers: &[Scorer],
    set: &DataSet,
    network: &Network,
    sample: &Sample,
) -> Result<Vec<Vec<f32>>> {
    let (labels, output) = network.predict(set, sample)?;
    let image = Image::new(sample, &labels, &output);
    let step = labels.ids.len().div_ceil(PIXELS).max(1);
    let known = |scores: Vec<f32>| {
        let known = scores.into_iter().zip(&labels.truth).filter(|(_, truth)| **truth == Truth::Known);
        known.step_by(step).map(|(score, _)| score).collect()
    };
    let scores = scorers.iter().map(|scorer| Ok(known(scorer.scores(&image)?)));
    scores.collect::<Result<_>>().with_context(|| sample.name.clone())
}

impl Display for Threshold {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        write!(out, "threshold {:.4}", self.value)?;
        match self.fpr {
            Some(fpr) => {
                write!(out, " ({} % of the pixels of {} held-out nominal images)", 100.0 * fpr, self.images)
            }
            None => write!(out, " (given)"),
        }
    }
}
