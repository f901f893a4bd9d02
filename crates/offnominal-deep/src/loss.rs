//! What training makes small: the cross-entropy of the judged pixels, with the confidence branch's hint if there is one.
//!
//! Reference for the branch: DeVries and Taylor, 2018, as in Angus et al., appendix A.5: with c = σ(branch), b ~
//! Bernoulli(½) for each pixel and c' = c b + (1 − b), the network may ask for the truth, p' = c' p + (1 − c') y, and
//! pays for it: L = mean −ln p'_y + ½ mean −ln c.

use crate::likelihood::log_likelihood;
use crate::segmenter::Answer;
use crate::weights::tensor;
use burn_tensor::activation::{log_sigmoid, sigmoid};
use burn_tensor::{Device, Tensor};
use offnominal_core::Rng;
use std::sync::Arc;

/// Share of the auxiliary loss, as in the paper.
const AUXILIARY: f64 = 0.4;
/// Price of a hint, as in the paper.
const HINT: f64 = 0.5;
/// Keeps the logarithm finite, as in the published code.
const LEAST: f64 = 1e-12;

/// Labels of a batch on a device.
pub struct Truth {
    /// Class of each pixel, `[images, height, width]`; 0 where it is not judged.
    classes: Arc<[u8]>,
    /// What each pixel counts; 0 where it is not judged, 1 in sum.
    shares: Tensor<4>,
}

impl Truth {
    /// Of labels, `[images, height, width]`, where every class has a weight; what is no class is not judged.
    pub fn new(labels: &[u8], shape: [usize; 3], weights: &[f32], device: &Device) -> Truth {
        let [images, height, width] = shape;
        let shape = [images, 1, height, width];
        let weight = |label: u8| weights.get(usize::from(label)).copied().unwrap_or(0.0);
        let total = labels.iter().map(|&l| weight(l)).sum::<f32>().max(f32::MIN_POSITIVE);
        let shares = labels.iter().map(|&l| weight(l) / total).collect();
        let class = |&label: &u8| if usize::from(label) < weights.len() { label } else { 0 };
        Truth { classes: labels.iter().map(class).collect(), shares: tensor(shares, shape, device) }
    }

    /// The mean over judged pixels of −ln p_y.
    fn self_information(&self, log_likelihood: Tensor<4>) -> Tensor<1> {
        (log_likelihood * self.shares.clone()).sum().neg()
    }
}

/// The loss of an answer.
pub fn loss(answer: Answer, truth: &Truth, rng: &mut Rng) -> Tensor<1> {
    let log_p = log_likelihood(answer.logits, &truth.classes);
    let task = match answer.confidence {
        Some(branch) => hinted(log_p, branch, truth, rng),
        None => truth.self_information(log_p),
    };
    match answer.auxiliary {
        Some(logits) => {
            task + truth.self_information(log_likelihood(logits, &truth.classes)).mul_scalar(AUXILIARY)
        }
        None => task,
    }
}

fn hinted(log_p: Tensor<4>, branch: Tensor<4>, truth: &Truth, rng: &mut Rng) -> Tensor<1> {
    let shape = branch.dims();
    let coins = (0..shape.iter().product()).map(|_| if rng.uniform() < 0.5 { 0.0 } else { 1.0 }).collect();
    let coins: Tensor<4> = tensor(coins, shape, &branch.device().inner());
    // c' = 1 − b (1 − c), so the share of the truth is b (1 − c).
    let asked = coins * (sigmoid(branch.clone()).neg() + 1.0);
    let p = log_p.exp();
    let helped = p.clone() + asked * (p.neg() + 1.0);
    truth.self_information((helped + LEAST).log())
        + truth.self_information(log_sigmoid(branch)).mul_scalar(HINT)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device;
    use crate::weights::numbers;

    const PIXELS: usize = 400;

    /// Two classes with probabilities p and 1 − p everywhere, and labels of the first; half of it is not judged.
    fn found(p: f32, branch: Option<f32>) -> f64 {
        let device = device::cpu();
        let plane = |value: f32| vec![value; PIXELS];
        let logits = tensor([plane(p.ln()), plane((1.0 - p).ln())].concat(), [1, 2, 20, 20], &device);
        let confidence = branch.map(|z| tensor(plane(z), [1, 1, 20, 20], &device));
        let features = tensor(vec![0.0], [1, 1, 1, 1], &device);
        let answer = Answer { logits, confidence, features, auxiliary: None };
        let labels: Vec<u8> = (0..PIXELS).map(|i| if i % 2 == 0 { 0 } else { 255 }).collect();
        let truth = Truth::new(&labels, [1, 20, 20], &[3.0, 1.0], &device);
        f64::from(numbers(loss(answer, &truth, &mut Rng::new(1)))[0])
    }

    #[test]
    fn it_is_the_surprise_of_the_judged_pixels() {
        assert!((found(0.25, None) - 4.0_f64.ln()).abs() < 1e-5);
        assert!((found(0.9, None) + 0.9_f64.ln()).abs() < 1e-5);
    }

    /// The formula once more, pixel by pixel in double precision, for random answers of three weighted classes.
    #[test]
    fn a_second_implementation_agrees() {
        let (device, mut rng, weights) = (device::cpu(), Rng::new(5), [1.0_f32, 2.0, 0.5]);
        let (n, mut draw) = (60, |n: usize| (0..n).map(|_| 2.0 * rng.normal() as f32).collect::<Vec<f32>>());
        let (logits, branch) = (draw(3 * n), draw(n));
        let labels: Vec<u8> = (0..n).map(|i| [0, 1, 2, 255][i % 4]).collect();
        let answer = Answer {
            logits: tensor(logits.clone(), [1, 3, 6, 10], &device),
            confidence: Some(tensor(branch.clone(), [1, 1, 6, 10], &device)),
            features: tensor(vec![0.0], [1, 1, 1, 1], &device),
            auxiliary: None,
        };
        let truth = Truth::new(&labels, [1, 6, 10], &weights, &device);
        let found = f64::from(numbers(loss(answer, &truth, &mut Rng::new(9)))[0]);
        let (mut coins, mut sum, mut total) = (Rng::new(9), 0.0, 0.0);
        for (i, &label) in labels.iter().enumerate() {
            let is_helped = coins.uniform() >= 0.5;
            let Some(&weight) = weights.get(usize::from(label)) else { continue };
            let e = |class: usize| f64::from(logits[class * n + i]).exp();
            let p = e(label.into()) / (e(0) + e(1) + e(2));
            let c = 1.0 / (1.0 + f64::from(-branch[i]).exp());
            let p = if is_helped { c * p + 1.0 - c } else { p };
            sum += f64::from(weight) * (-p.ln() - HINT * c.ln());
            total += f64::from(weight);
        }
        assert!((found - sum / total).abs() < 1e-5, "{found} {}", sum / total);
    }

    #[test]
    fn who_is_sure_gets_no_hint_and_pays_nothing() {
        assert!((found(0.25, Some(30.0)) - 4.0_f64.ln()).abs() < 1e-5);
    }

    /// With c = ½ a pixel whose coin shows 1 is helped half of the way: p' = p + ½ (1 − p).
    #[test]
    fn who_is_not_sure_is_helped_and_pays() {
        let p = 0.25_f64;
        let price = 0.5 * 2.0_f64.ln();
        let (alone, helped) = (-p.ln(), -(p + 0.5 * (1.0 - p)).ln());
        let mut rng = Rng::new(1);
        let coins: Vec<bool> = (0..PIXELS).map(|_| rng.uniform() >= 0.5).collect();
        let heads = coins.iter().step_by(2).filter(|&&c| c).count() as f64 / (PIXELS / 2) as f64;
        let expected = heads * helped + (1.0 - heads) * alone + price;
        assert!((found(0.25, Some(0.0)) - expected).abs() < 1e-5, "{}", found(0.25, Some(0.0)));
    }
}
