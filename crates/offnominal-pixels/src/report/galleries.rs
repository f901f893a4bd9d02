//! The galleries of the page: what each method missed and what it invented.

use crate::gallery::Mistake;
use crate::results::{Evaluation, MethodResult};
use minijinja::Value;
use serde::Serialize;

/// The gallery of a method.
#[derive(Serialize)]
pub struct Shown {
    method: String,
    threshold: String,
    /// Whether a reader sees it without asking: that of the best method.
    is_open: bool,
    missed: Vec<ShownMistake>,
    invented: Vec<ShownMistake>,
}

#[derive(Serialize)]
struct ShownMistake {
    caption: String,
    /// What is seen in the pictures, and the pictures.
    pictures: [(String, Value); 2],
}

/// The galleries of a data set.
pub fn of(e: &Evaluation) -> Vec<Shown> {
    e.methods.iter().map(|m| shown(m, m.method == e.failures.method)).collect()
}

fn shown(m: &MethodResult, is_open: bool) -> Shown {
    let threshold = m.best_f1_threshold;
    let list = |mistakes: &[Mistake], how| mistakes.iter().map(|m| mistake(m, how, threshold)).collect();
    Shown {
        method: m.marked(),
        threshold: format!("{threshold:.4}"),
        is_open,
        missed: list(&m.gallery.missed, "missed"),
        invented: list(&m.gallery.invented, "invented"),
    }
}

fn mistake(m: &Mistake, how: &str, threshold: f64) -> ShownMistake {
    let [image, score] = &m.pictures;
    let picture =
        |what: String, png: &str| (what, Value::from_safe_string(format!("data:image/png;base64,{png}")));
    let frame = format!("a white frame around what was {how}");
    ShownMistake {
        caption: m.caption(how, threshold),
        pictures: [
            picture(
                format!("Image {}, outlines of the truth and of what was found, {frame}", m.image),
                image,
            ),
            picture(format!("Scores of image {}, outlines of the truth, {frame}", m.image), score),
        ],
    }
}
