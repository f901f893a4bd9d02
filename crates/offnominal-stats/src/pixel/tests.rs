//! Metrics of components beside those of a reference that labels with scipy (`tests/data/make_components.py`).

use super::components::{ImageComponents, Smallest, compare, summarise};
use super::{Pro, Truth};
use crate::{Bootstrap, Level};
use offnominal_core::Seed;
use serde::Deserialize;

#[derive(Deserialize)]
struct File {
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    width: usize,
    threshold: f64,
    /// Of the prediction and of the truth.
    least: [usize; 2],
    images: Vec<Image>,
    want: Want,
}

#[derive(Deserialize)]
struct Image {
    labels: Vec<usize>,
    scores: Vec<f32>,
}

#[derive(Deserialize)]
struct Want {
    siou: f64,
    ppv: f64,
    f1: f64,
    aupro: f64,
}

impl Image {
    fn truth(&self) -> Vec<Truth> {
        self.labels.iter().map(|&l| [Truth::Known, Truth::Unknown, Truth::Ignored][l]).collect()
    }
}

#[track_caller]
fn near(what: &str, found: f64, want: f64) {
    assert!((found - want).abs() < 1e-9, "{what}: expected {want}, found {found}");
}

#[test]
fn components_agree_with_the_formulas_on_labels_of_scipy() {
    let file: File = serde_json::from_str(include_str!("../../tests/data/components.json")).unwrap();
    let plan = Bootstrap::new(20, Level::P95, Seed(0));
    for case in file.cases {
        let least = Smallest { predicted: case.least[0], truth: case.least[1] };
        let of = |i: &Image| compare(&i.scores, &i.truth(), case.width, case.threshold, least);
        let images: Vec<ImageComponents> = case.images.iter().map(of).collect();
        let found = summarise(&images, &plan).unwrap();
        near("sIoU", found.siou.value, case.want.siou);
        near("PPV", found.ppv.unwrap().value, case.want.ppv);
        near("F1", found.f1.value, case.want.f1);
        let mut pro = Pro::default();
        case.images.iter().for_each(|i| pro.add(&i.scores, &i.truth(), case.width, 1).unwrap());
        // The scores are sixteenths below 8, each in a bin of its own.
        near("AUPRO", pro.area(&plan).unwrap().value, case.want.aupro);
    }
}
