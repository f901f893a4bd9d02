//! How unknown each pixel of an image is, from what a segmentation network says about it.
//!
//! A network is known by its [`Output`] alone: logits of one or several passes, and features if it gives them; whoever
//! made it. A [`PixelMethod`] looks at nominal outputs if it must, and becomes a [`PixelScorer`]. One convention:
//! larger is more unknown. Where there are several passes, p is their mean probability and z their mean logit, so that
//! `entropy` is the predictive entropy.
//!
//! | id | needs | score |
//! |----|-------|-------|
//! | `max-softmax` | logits | 1 − max p |
//! | `odin` | logits, and a temperature | 1 − max softmax(z / T) |
//! | `entropy` | logits | −Σ p ln p |
//! | `max-logit` | logits | −max z |
//! | `energy` | logits | −ln Σ eᶻ |
//! | `standardised-max-logit` | nominal logits | (μ_c − max z) / σ_c, boundaries suppressed, smoothed |
//! | `var-sum` | several passes | Σ over classes of the variance of p over passes |
//! | `mutual-information` | several passes | H(mean p) − mean H(p) |
//! | `confidence` | a confidence branch | 1 − c |
//! | `mahalanobis` | nominal features and labels | σ((min over classes of the Mahalanobis distance − μ) / s) |
//! | `feature-knn` | nominal features | distance to the k-th nearest nominal feature, both of unit length |
//! | `vim` | nominal features and logits | α ‖residual of the features‖ − ln Σ eᶻ |
//! | `outlier-head` | features and logits of images with pasted things | the logit of a small network that tells them from the rest |
//!
//! `entropy-code2019`, `var-sum-code2019`, `aleatoric-entropy-code2019` and `mahalanobis-code2019` are what the paper's
//! published code computes in place of its equations. References: Angus et al., "Efficacy of pixel-level OOD
//! detection for semantic segmentation", 2019, appendix A; Hendrycks et al., ICML 2022 (max logit); Liu et al.,
//! NeurIPS 2020 (energy); Jung et al., ICCV 2021 (standardised max logit); Sun et al., ICML 2022 (kNN); Wang et al.,
//! CVPR 2022 (ViM).

mod boundary;
mod confidence;
mod feature_knn;
mod grid;
mod mahalanobis;
mod mahalanobis_code2019;
mod outlier_head;
pub mod patches;
mod predictive;
mod softmax;
mod standardised;
mod stochastic;
mod vim;

pub use confidence::{ConfidenceBranch, EnergyScore, Entropy, EntropyCode2019, MaxLogit, MaxSoftmax, Odin};
pub use feature_knn::FeatureKnnPixels;
pub use mahalanobis::MahalanobisPixels;
pub use mahalanobis_code2019::MahalanobisCode2019;
pub use outlier_head::OutlierHead;
pub use standardised::StandardisedMaxLogit;
pub use stochastic::{AleatoricEntropyCode2019, MutualInformation, VarSum, VarSumCode2019};
pub use vim::Vim;

use offnominal_core::{Catalogue, Entry, entry};

/// The label of pixels of unknown things.
pub const UNKNOWN: u8 = 254;

/// The temperatures of the paper, from which ODIN's is chosen on held-out images.
pub const TEMPERATURES: [f64; 10] = [1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1000.0];

/// The output of a segmentation network for one image.
#[derive(Debug, Clone, Copy)]
pub struct Output<'a> {
    /// `[passes, classes, height, width]`.
    pub logits: &'a [f32],
    /// Number of passes; more than one if they are random.
    pub passes: usize,
    /// Number of classes.
    pub classes: usize,
    /// Rows.
    pub height: usize,
    /// Pixels per row.
    pub width: usize,
    /// Activations before the last layer, if they are known.
    pub features: Option<Features<'a>>,
    /// Confidence of each pixel, from 0 to 1, if the network was trained to give it.
    pub confidence: Option<&'a [f32]>,
}

/// Activations on a grid that may be coarser than the image.
#[derive(Debug, Clone, Copy)]
pub struct Features<'a> {
    /// `[channels, rows, columns]`.
    pub values: &'a [f32],
    /// Number of channels.
    pub channels: usize,
    /// Rows of the grid.
    pub rows: usize,
    /// Columns of the grid.
    pub columns: usize,
}

impl Output<'_> {
    /// Number of pixels.
    pub fn pixels(&self) -> usize {
        self.height * self.width
    }

    /// The logits of a pass, `[classes, pixels]`.
    pub fn pass(&self, pass: usize) -> &[f32] {
        let size = self.classes * self.pixels();
        &self.logits[pass * size..(pass + 1) * size]
    }
}

/// What a method needs besides logits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Needs {
    /// Several random passes.
    pub passes: bool,
    /// Features.
    pub features: bool,
    /// Nominal images to be fitted on.
    pub nominal: bool,
    /// The network's own confidence.
    pub confidence: bool,
    /// Features at the places at which the nominal images have theirs.
    pub places: bool,
    /// Images in which unknown things were pasted, to be fitted on in place of nominal ones; their label is
    /// [`UNKNOWN`].
    pub outliers: bool,
}

/// Why a method cannot be used.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PixelError {
    /// The network gave one pass.
    #[error("expected logits of several random passes [passes, classes, height, width], found one pass")]
    OnePass,
    /// The network gave no features.
    #[error("expected features beside the logits, found none")]
    NoFeatures,
    /// The network has no output for its confidence.
    #[error("expected a network that was trained with a confidence branch, found none")]
    NoConfidence,
    /// The features are not like those on which the method was fitted.
    #[error(
        "expected features [channels, rows, columns] like {expected:?} of the nominal images, found {found:?}"
    )]
    Unlike {
        /// Those of the nominal images.
        expected: [usize; 3],
        /// Those of this image.
        found: [usize; 3],
    },
    /// There is too little to be fitted on.
    #[error("expected {expected}, found {found}")]
    TooFew {
        /// What is needed.
        expected: &'static str,
        /// How many there are.
        found: usize,
    },
}

/// A recipe.
pub trait PixelMethod: Send + Sync {
    /// What it needs.
    fn needs(&self) -> Needs;

    /// Begins to look at nominal images.
    fn begin(&self) -> Box<dyn Fitting>;
}

/// A method that looks at nominal images, as often as it wants.
pub trait Fitting: Send {
    /// How many times it wants to see all images.
    fn rounds(&self) -> usize;

    /// Looks at an image. Labels are class ids, one for each pixel; what is not a class of the output is ignored.
    fn see(&mut self, round: usize, output: &Output<'_>, labels: &[u8]);

    /// Becomes a scorer.
    ///
    /// # Errors
    /// If it saw too little.
    fn finish(self: Box<Self>) -> Result<Box<dyn PixelScorer>, PixelError>;
}

/// A method that can score.
pub trait PixelScorer: Send + Sync {
    /// Writes a score for each pixel.
    fn score(&self, output: &Output<'_>, scores: &mut [f32]);
}

impl Needs {
    /// Whether an output has what is needed.
    ///
    /// # Errors
    /// The thing that is missing.
    pub fn check(&self, output: &Output<'_>) -> Result<(), PixelError> {
        if self.passes && output.passes < 2 {
            return Err(PixelError::OnePass);
        }
        if self.features && output.features.is_none() {
            return Err(PixelError::NoFeatures);
        }
        if self.confidence && output.confidence.is_none() {
            return Err(PixelError::NoConfidence);
        }
        Ok(())
    }

    /// Whether the features of an output are like those of the nominal images, `[channels, rows, columns]`: as many
    /// channels and, where that matters, the same places.
    ///
    /// # Errors
    /// Both shapes, if they are not.
    pub fn check_like(&self, output: &Output<'_>, expected: [usize; 3]) -> Result<(), PixelError> {
        let Some(features) = output.features.filter(|_| self.features) else { return Ok(()) };
        let found = features.shape();
        let alike = if self.places { found == expected } else { found[0] == expected[0] };
        if alike { Ok(()) } else { Err(PixelError::Unlike { expected, found }) }
    }
}

/// The fitting of a method that needs none.
struct Ready<S>(S);

impl<S: PixelScorer + 'static> Fitting for Ready<S> {
    fn rounds(&self) -> usize {
        0
    }

    fn see(&mut self, _: usize, _: &Output<'_>, _: &[u8]) {}

    fn finish(self: Box<Self>) -> Result<Box<dyn PixelScorer>, PixelError> {
        Ok(Box::new(self.0))
    }
}

/// Lists the methods once: the recipe, the name and a line for listings of each.
macro_rules! methods {
    ($($recipe:ident $id:literal $summary:literal)*) => {
        /// Every method, in the order in which reports list them.
        pub const METHODS: &[Entry<dyn PixelMethod>] =
            &[$(entry!($recipe as dyn PixelMethod, $id, $summary)),*];
    };
}

methods! {
    MaxSoftmax "max-softmax" "one less the largest probability"
    Odin "odin" "the same at a temperature that was chosen on unknown pixels"
    Entropy "entropy" "entropy of the probabilities"
    MaxLogit "max-logit" "the largest logit, negated"
    EnergyScore "energy" "logarithm of the sum of exponentials of the logits, negated"
    StandardisedMaxLogit "standardised-max-logit" "largest logit in units of its class, boundaries suppressed"
    VarSum "var-sum" "variance of the probabilities over passes, summed over classes"
    MutualInformation "mutual-information" "entropy of the mean probabilities less the mean entropy over passes"
    ConfidenceBranch "confidence" "how unsure the network says it is, where it was trained to say so"
    MahalanobisPixels "mahalanobis" "distance of the features from the nearest class, in units of its covariance"
    FeatureKnnPixels "feature-knn" "distance to the k-th nearest nominal feature"
    Vim "vim" "what the features have outside their principal space, against the energy"
    OutlierHead "outlier-head" "a small network on features that learned from things pasted into known images"
    EntropyCode2019 "entropy-code2019" "entropy divided by the number of classes"
    VarSumCode2019 "var-sum-code2019" "mean variance over classes, 400 times, cut at 1"
    AleatoricEntropyCode2019 "aleatoric-entropy-code2019" "mean entropy over passes divided by the number of classes"
    MahalanobisCode2019 "mahalanobis-code2019" "distance of the features with the inverses of all places added"
}

/// The methods, by name.
pub fn methods() -> Catalogue<dyn PixelMethod> {
    Catalogue::new("method", METHODS)
}

#[cfg(test)]
mod tests;
