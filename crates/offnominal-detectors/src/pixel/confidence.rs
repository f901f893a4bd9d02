//! Scores from logits (max softmax, ODIN, entropy, max logit, energy), and from a confidence branch. Of several passes
//! the mean counts: of probabilities where a score reads these, else of logits.
//!
//! Reference: Angus et al., appendix A.2, A.3, A.5 and A.6. Deviates: the paper's values v of Max Softmax, ODIN and
//! Confidence are small for unknown pixels; here 1 − v. ODIN's perturbation of the input is left out, as in all
//! experiments of the paper.

use super::predictive::Predictive;
use super::softmax::{Sums, map};
use super::{Fitting, Needs, Output, PixelMethod, PixelScorer, Ready};
use crate::shared::recipe::recipe;

/// The score of a pixel whose largest probability is 1 / sum. Where T is large all probabilities are close to 1 / K;
/// the difference from that is formed before rounding to keep their order.
fn unlikely(s: Sums) -> f32 {
    (s.sum - 1.0) / s.sum
}

/// The mean logits.
fn mean<'a>(output: &'a Output<'_>) -> Predictive<'a> {
    Predictive { logits: output.mean_logits(), temperature: 1.0 }
}

/// Declares a recipe that scores each pixel by sums over the logits of one prediction.
macro_rules! of_logits {
    ($(#[$doc:meta])* pub struct $name:ident { $($fields:tt)* }
     |$recipe:ident, $output:ident| $prediction:expr, $score:expr) => {
        recipe! {
            $(#[$doc])*
            #[derive(Copy)]
            pub struct $name { $($fields)* }
        }

        impl PixelScorer for $name {
            fn score(&self, $output: &Output<'_>, scores: &mut [f32]) {
                let ($recipe, $output) = (self, $output);
                let Predictive { logits, temperature } = $prediction;
                map(&logits, temperature, scores, $score);
            }
        }

        impl PixelMethod for $name {
            fn needs(&self) -> Needs {
                Needs::default()
            }

            fn begin(&self) -> Box<dyn Fitting> {
                Box::new(Ready(*self))
            }
        }
    };
}

of_logits! {
    /// 1 − max p.
    pub struct MaxSoftmax {}
    |_recipe, output| output.predictive(1.0), unlikely
}

of_logits! {
    /// 1 − max softmax(z / T).
    pub struct Odin {
        /// T, one of [`TEMPERATURES`](super::TEMPERATURES) in the paper; by default that of Liang et al., ICLR 2018.
        pub temperature: f64 = 1000.0,
    }
    |recipe, output| output.predictive(recipe.temperature as f32), unlikely
}

of_logits! {
    /// −Σ p ln p.
    pub struct Entropy {}
    |_recipe, output| output.predictive(1.0), Sums::entropy
}

of_logits! {
    /// −1/K Σ p ln p, as the published code.
    pub struct EntropyCode2019 {}
    |_recipe, output| output.predictive(1.0), |s: Sums| s.entropy() / output.classes as f32
}

of_logits! {
    /// −max z.
    pub struct MaxLogit {}
    |_recipe, output| mean(output), |s: Sums| -s.top
}

of_logits! {
    /// −ln Σ eᶻ.
    pub struct EnergyScore {}
    |_recipe, output| mean(output), |s: Sums| -s.top - s.sum.ln()
}

recipe! {
    /// 1 − c, where c is the output of the network's confidence branch.
    #[derive(Copy)]
    pub struct ConfidenceBranch {}
}

impl PixelScorer for ConfidenceBranch {
    fn score(&self, output: &Output<'_>, scores: &mut [f32]) {
        let Some(confidence) = output.confidence else { return scores.fill(0.0) };
        scores.iter_mut().zip(confidence).for_each(|(score, c)| *score = 1.0 - c);
    }
}

impl PixelMethod for ConfidenceBranch {
    fn needs(&self) -> Needs {
        Needs { confidence: true, ..Needs::default() }
    }

    fn begin(&self) -> Box<dyn Fitting> {
        Box::new(Ready(*self))
    }
}
