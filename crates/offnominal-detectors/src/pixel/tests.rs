//! Every method: its known values, its direction, and what it refuses.

use super::*;
use offnominal_core::Rng;

const CLASSES: usize = 4;
const SIDE: usize = 24;
const CHANNELS: usize = 6;

/// A network that is sure of four stripes, and unsure within a square that may be in the image.
struct Fake {
    logits: Vec<f32>,
    features: Vec<f32>,
    labels: Vec<u8>,
    confidence: Vec<f32>,
}

fn fake(seed: u64, has_square: bool) -> Fake {
    let (mut rng, passes, n) = (Rng::new(seed), 3, SIDE * SIDE);
    let is_odd = |p: usize| has_square && (8..16).contains(&(p / SIDE)) && (8..16).contains(&(p % SIDE));
    let class = |p: usize| p % SIDE / 6;
    let mut logits = vec![0.0; passes * CLASSES * n];
    let mut features = vec![0.0; CHANNELS * n];
    for p in 0..n {
        let sure = if is_odd(p) { 1.0 } else { 6.0 };
        let wobble = if is_odd(p) { 1.2 } else { 0.1 };
        for (i, z) in logits.iter_mut().enumerate().filter(|(i, _)| i % n == p) {
            *z = (wobble * rng.normal()) as f32 + if i / n % CLASSES == class(p) { sure } else { 0.0 };
        }
        let off = if is_odd(p) { 4.0 } else { 0.0 };
        for (i, f) in features.iter_mut().enumerate().filter(|(i, _)| i % n == p) {
            // The last channels never move by much nominally.
            let spread = if i / n < 4 { 1.0 } else { 0.1 };
            let own = if i / n == class(p) { 5.0 } else { 0.0 };
            *f = (spread * rng.normal()) as f32 + own + if i / n >= 4 { off } else { 0.0 };
        }
    }
    let confidence = (0..n).map(|p| if is_odd(p) { 0.4 } else { 0.9 }).collect();
    Fake { logits, features, labels: (0..n).map(|p| class(p) as u8).collect(), confidence }
}

/// An image with the square, which is labelled as unknown.
fn pasted(seed: u64) -> Fake {
    let mut image = fake(seed, true);
    let inside = |p: usize| (8..16).contains(&(p / SIDE)) && (8..16).contains(&(p % SIDE));
    image.labels.iter_mut().enumerate().filter(|(p, _)| inside(*p)).for_each(|(_, label)| *label = UNKNOWN);
    image
}

impl Fake {
    fn output(&self) -> Output<'_> {
        let features = Features { values: &self.features, channels: CHANNELS, rows: SIDE, columns: SIDE };
        Output {
            logits: &self.logits,
            passes: 3,
            classes: CLASSES,
            height: SIDE,
            width: SIDE,
            features: Some(features),
            confidence: Some(&self.confidence),
        }
    }
}

fn fitted(method: &dyn PixelMethod) -> Box<dyn PixelScorer> {
    let mut fitting = method.begin();
    let nominal =
        if method.needs().outliers { [pasted(1), pasted(2)] } else { [fake(1, false), fake(2, false)] };
    for round in 0..fitting.rounds() {
        nominal.iter().for_each(|image| fitting.see(round, &image.output(), &image.labels));
    }
    fitting.finish().unwrap()
}

fn scores(scorer: &dyn PixelScorer, output: &Output<'_>) -> Vec<f32> {
    let mut scores = vec![f32::NAN; output.pixels()];
    scorer.score(output, &mut scores);
    scores
}

fn build(id: &str) -> Box<dyn PixelMethod> {
    methods().build(id, &serde_json::json!({})).unwrap()
}

/// Share of pairs in which the pixel of the square has the higher score.
fn auroc(scores: &[f32]) -> f64 {
    let inside = |p: usize| (9..15).contains(&(p / SIDE)) && (9..15).contains(&(p % SIDE));
    let outside = |p: usize| !(6..18).contains(&(p / SIDE)) || !(6..18).contains(&(p % SIDE));
    let side = |is: &dyn Fn(usize) -> bool| {
        (0..scores.len()).filter(|&p| is(p)).map(|p| scores[p]).collect::<Vec<_>>()
    };
    let (unknown, known) = (side(&inside), side(&outside));
    let wins = unknown.iter().flat_map(|u| {
        known.iter().map(move |k| {
            if u > k {
                1.0
            } else if u == k {
                0.5
            } else {
                0.0
            }
        })
    });
    wins.sum::<f64>() / (unknown.len() * known.len()) as f64
}

#[test]
fn larger_is_more_unknown_in_every_method() {
    let image = fake(3, true);
    for entry in METHODS {
        let method = build(entry.id);
        assert_eq!(method.needs().check(&image.output()), Ok(()));
        let found = scores(fitted(method.as_ref()).as_ref(), &image.output());
        assert!(found.iter().all(|s| s.is_finite()), "{}", entry.id);
        assert!(auroc(&found) > 0.8, "{}: {}", entry.id, auroc(&found));
    }
}

/// One pixel with the given logits in each pass.
fn one(id: &str, passes: &[&[f32]]) -> f64 {
    let logits = passes.concat();
    let output = Output {
        logits: &logits,
        passes: passes.len(),
        classes: passes[0].len(),
        height: 1,
        width: 1,
        features: None,
        confidence: None,
    };
    f64::from(scores(build(id).begin().finish().unwrap().as_ref(), &output)[0])
}

#[track_caller]
fn near(found: f64, want: f64) {
    assert!((found - want).abs() < 1e-5 * want.abs().max(1.0), "expected {want}, found {found}");
}

#[test]
fn known_values_of_one_pass() {
    let l = 3.0_f32.ln();
    let z: &[f32] = &[l, 0.0]; // p = (3/4, 1/4)
    let entropy = -(0.75 * 0.75_f64.ln() + 0.25 * 0.25_f64.ln());
    near(one("max-softmax", &[z]), 0.25);
    near(one("entropy", &[z]), entropy);
    near(one("entropy-code2019", &[z]), entropy / 2.0);
    near(one("entropy", &[&[7.0; 19]]), 19.0_f64.ln());
    near(one("max-logit", &[z]), -3.0_f64.ln());
    near(one("energy", &[z]), -4.0_f64.ln());
    near(one("energy", &[&[700.0, 700.0]]), -(700.0 + 2.0_f64.ln()));
}

#[test]
fn odin_at_one_is_max_softmax_and_at_infinity_orders_by_the_logits() {
    let image = fake(4, true);
    let at = |temperature: f64| scores(&Odin { temperature }, &image.output());
    assert_eq!(at(1.0), scores(&MaxSoftmax {}, &image.output()));
    let flat = at(1000.0);
    assert!(flat.iter().all(|s| (s - 0.75).abs() < 0.01) && auroc(&flat) > 0.95, "{}", auroc(&flat));
}

#[test]
fn known_values_of_several_passes() {
    let l = 3.0_f32.ln();
    let (a, b): (&[f32], &[f32]) = (&[l, 0.0], &[0.0, l]); // p = (3/4, 1/4) and (1/4, 3/4)
    let entropy = -(0.75 * 0.75_f64.ln() + 0.25 * 0.25_f64.ln());
    near(one("var-sum", &[a, b]), 2.0 / 16.0);
    near(one("var-sum-code2019", &[a, b]), 1.0);
    near(one("mutual-information", &[a, b]), 2.0_f64.ln() - entropy);
    near(one("aleatoric-entropy-code2019", &[a, b]), entropy / 2.0);
    near(one("var-sum", &[a, a]), 0.0);
    near(one("mutual-information", &[a, a, a]), 0.0);
}

#[test]
fn several_passes_make_one_prediction() {
    let l = 3.0_f32.ln();
    let (a, b): (&[f32], &[f32]) = (&[l, 0.0], &[0.0, l]); // p = (3/4, 1/4) and (1/4, 3/4), mean (1/2, 1/2)
    near(one("max-softmax", &[a, b]), 0.5);
    near(one("max-softmax", &[a, a, b]), 1.0 - 7.0 / 12.0);
    near(one("entropy", &[a, b]), 2.0_f64.ln());
    near(one("entropy", &[a, a, a]), one("entropy", &[a]));
    near(one("odin", &[a, a]), one("odin", &[a]));
    near(one("max-logit", &[a, b]), -0.5 * 3.0_f64.ln());
    near(one("energy", &[a, b]), -0.5 * 3.0_f64.ln() - 2.0_f64.ln());
}

#[test]
fn the_prediction_is_that_of_all_passes() {
    let logits = [0.1, 0.0, 0.0, 2.0, 0.0, 2.0];
    let (features, confidence) = (None, None);
    let output = Output { logits: &logits, passes: 3, classes: 2, height: 1, width: 1, features, confidence };
    assert_eq!(output.prediction(), [1]);
}

#[test]
fn mahalanobis_does_not_depend_on_the_units_of_the_features() {
    let turned = |seed, has_square| {
        let mut image = fake(seed, has_square);
        image.features.chunks_exact_mut(SIDE * SIDE).enumerate().for_each(|(channel, plane)| {
            plane.iter_mut().for_each(|f| *f = *f * (1.0 + channel as f32) - 3.0);
        });
        image
    };
    let found = |make: &dyn Fn(u64, bool) -> Fake| {
        let mut fitting = MahalanobisPixels::default().begin();
        let nominal = [make(1, false), make(2, false)];
        for round in 0..fitting.rounds() {
            nominal.iter().for_each(|image| fitting.see(round, &image.output(), &image.labels));
        }
        scores(fitting.finish().unwrap().as_ref(), &make(5, true).output())
    };
    let (plain, turned) = (found(&fake), found(&turned));
    assert!(plain.iter().zip(&turned).all(|(a, b)| (a - b).abs() < 1e-3));
}

#[test]
fn what_is_missing_is_named() {
    let image = fake(1, false);
    let bare = Output { passes: 1, features: None, confidence: None, ..image.output() };
    let refusal = |id: &str| build(id).needs().check(&bare).unwrap_err().to_string();
    assert!(refusal("var-sum").contains("several random passes") && refusal("vim").contains("features"));
    assert!(refusal("confidence").contains("confidence branch"));
    for id in ["mahalanobis", "feature-knn", "vim", "standardised-max-logit", "outlier-head"] {
        assert!(build(id).begin().finish().is_err(), "{id} cannot do without nominal images");
    }
    let error = methods().build("entropie", &serde_json::json!({})).err().unwrap().to_string();
    assert!(error.contains("did you mean \"entropy\""), "{error}");
}

#[test]
fn the_prediction_is_the_largest_logit() {
    let image = fake(6, false);
    assert_eq!(image.output().prediction(), image.labels);
}
