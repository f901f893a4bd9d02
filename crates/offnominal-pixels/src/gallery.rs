//! What a method missed and what it invented, in pictures: the images with the largest mistakes.
//!
//! The components are those of [`offnominal_stats::pixel::components`], at the threshold with the best F1 of pixels. One
//! of the truth is *missed* if less than half of it is called unknown; a predicted one is *invented* if less than half of
//! it is unknown. Of an image only the largest of either counts, so that each panel shows another image.

mod picture;

use crate::data_set::Labels;
use anyhow::Result;
use offnominal_stats::pixel::components::{Compared, Components};
use picture::Picture;
pub(crate) use picture::outline;
use serde::{Deserialize, Serialize};
use std::cell::OnceCell;

/// The most images of either kind.
pub const IMAGES: usize = 3;

/// The largest mistakes of a method.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Gallery {
    /// Components of the truth that were missed, from the largest.
    pub missed: Vec<Mistake>,
    /// Predicted components that were invented, from the largest.
    pub invented: Vec<Mistake>,
}

/// A component that was missed or invented.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mistake {
    /// The name of the image.
    pub image: String,
    /// Pixels of the component.
    pub pixels: usize,
    /// Its mean score.
    pub score: f64,
    /// The class that the network predicts in most of its pixels, and in which share of them; none without a network.
    pub predicted: Option<(String, f64)>,
    /// The image and its score map with outlines: PNG files in base64.
    pub pictures: [String; 2],
}

/// An image, as all methods see it.
pub(crate) struct GalleryImage<'a> {
    pub name: &'a str,
    pub labels: &'a Labels,
    /// None without a network.
    pub prediction: Option<&'a [u8]>,
    pub classes: &'a [String],
    /// Reads its colours, which few images need.
    pub colours: &'a dyn Fn() -> Vec<u8>,
    /// They, made small.
    pub small: OnceCell<Vec<u8>>,
}

impl Gallery {
    /// Adds an image; of equal mistakes that of the earlier image comes first.
    ///
    /// # Errors
    /// If a picture cannot be written, for the image is empty.
    pub(crate) fn add(&mut self, seen: &GalleryImage<'_>, scores: &[f32], found: &Compared) -> Result<()> {
        let panel = |of: &Components, label| seen.mistake(scores, found, (of, label));
        if let Some(label) = found.largest_missed() {
            insert(&mut self.missed, found.real.size(label), || panel(&found.real, label))?;
        }
        if let Some(label) = found.largest_invented() {
            insert(&mut self.invented, found.predicted.size(label), || panel(&found.predicted, label))?;
        }
        Ok(())
    }
}

/// Inserts a mistake of some size where it belongs; one that would be cut off is not made.
fn insert(list: &mut Vec<Mistake>, pixels: usize, make: impl FnOnce() -> Result<Mistake>) -> Result<()> {
    let at = list.partition_point(|m| m.pixels >= pixels);
    if at < IMAGES {
        list.insert(at, make()?);
        list.truncate(IMAGES);
    }
    Ok(())
}

impl GalleryImage<'_> {
    fn mistake(&self, scores: &[f32], found: &Compared, (of, label): (&Components, u32)) -> Result<Mistake> {
        let places: Vec<usize> = (0..scores.len()).filter(|&i| of.labels[i] == label).collect();
        let sum: f64 = places.iter().map(|&i| f64::from(scores[i])).sum();
        let picture = Picture::new(self.labels.size(), found, &places);
        let small = self.small.get_or_init(|| picture.small((self.colours)()));
        Ok(Mistake {
            image: self.name.into(),
            pixels: places.len(),
            score: sum / places.len() as f64,
            predicted: self.predicted(&places),
            pictures: [picture.image(small)?, picture.score(scores)?],
        })
    }

    /// The most frequent class of the prediction at some places, the first of equal ones.
    fn predicted(&self, places: &[usize]) -> Option<(String, f64)> {
        let prediction = self.prediction?;
        let mut counts = vec![0_usize; self.classes.len()];
        places.iter().for_each(|&i| counts[usize::from(prediction[i])] += 1);
        let most = (0..counts.len()).rev().max_by_key(|&class| counts[class])?;
        Some((self.classes[most].clone(), counts[most] as f64 / places.len() as f64))
    }
}

impl Mistake {
    /// What stands below its pictures, for a method with some threshold; `how` is what happened to its pixels.
    pub fn caption(&self, how: &str, threshold: f64) -> String {
        let Mistake { image, pixels, score, predicted, .. } = self;
        let s = if *pixels == 1 { "" } else { "s" };
        let said = predicted.as_ref().map_or(String::new(), |(class, share)| {
            format!("; predicted as {class} ({:.0} %)", 100.0 * share)
        });
        format!("{image}: {pixels} pixel{s} {how}; mean score {score:.4} (threshold {threshold:.4}){said}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use offnominal_stats::pixel::Truth;
    use offnominal_stats::pixel::components::Smallest;

    const ALL: Smallest = Smallest { predicted: 1, truth: 1 };

    /// Adds an image: `#` unknown and called, `o` unknown and missed, `x` known but called, `.` neither.
    fn add(gallery: &mut Gallery, name: &str, rows: &[&str], prediction: Option<&[u8]>) {
        let text: Vec<char> = rows.iter().flat_map(|r| r.chars()).collect();
        let is_unknown = |c: &char| "#o".contains(*c);
        let labels = Labels {
            width: rows[0].len(),
            height: rows.len(),
            ids: text.iter().map(|c| if is_unknown(c) { 254 } else { 0 }).collect(),
            truth: text.iter().map(|c| if is_unknown(c) { Truth::Unknown } else { Truth::Known }).collect(),
        };
        let scores: Vec<f32> = text.iter().map(|c| if "#x".contains(*c) { 0.75 } else { 0.25 }).collect();
        let found = Compared::new(&scores, &labels.truth, labels.width, 0.5, ALL);
        let (grey, classes) = (vec![90; 3 * text.len()], ["road", "car"].map(String::from));
        let seen = GalleryImage {
            name,
            labels: &labels,
            prediction,
            classes: &classes,
            colours: &|| grey.clone(),
            small: OnceCell::new(),
        };
        gallery.add(&seen, &scores, &found).unwrap();
    }

    fn sizes(list: &[Mistake]) -> Vec<(&str, usize)> {
        list.iter().map(|m| (m.image.as_str(), m.pixels)).collect()
    }

    #[test]
    fn the_largest_mistakes_stay_in_the_order_of_their_size_then_of_the_images() {
        let mut gallery = Gallery::default();
        add(&mut gallery, "a", &["oo.o", "....", "x..."], None);
        add(&mut gallery, "b", &["ooo.", "....", "####"], None);
        add(&mut gallery, "c", &["oo..", "....", "xx.x"], None);
        add(&mut gallery, "d", &["o...", "....", "...."], None);
        add(&mut gallery, "e", &["oo..", "....", "...."], None);
        assert_eq!(sizes(&gallery.missed), [("b", 3), ("a", 2), ("c", 2)]);
        assert_eq!(sizes(&gallery.invented), [("c", 2), ("a", 1)]);
    }

    #[test]
    fn nothing_missed_and_nothing_invented_is_no_panel() {
        let mut gallery = Gallery::default();
        add(&mut gallery, "a", &["##..", "...."], None);
        add(&mut gallery, "b", &["....", "...."], None);
        assert_eq!(gallery, Gallery::default());
    }

    #[test]
    fn captions_say_size_score_threshold_and_what_was_predicted() {
        let mut gallery = Gallery::default();
        // One of four pixels of the thing is found, three of them are taken for a car.
        add(&mut gallery, "0007", &["#ooo", "....", "...x"], Some(&[0, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0]));
        let said = gallery.missed[0].caption("missed", 0.5);
        assert_eq!(
            said,
            "0007: 4 pixels missed; mean score 0.3750 (threshold 0.5000); predicted as car (75 %)"
        );
        let said = gallery.invented[0].caption("invented", 0.5);
        assert_eq!(
            said,
            "0007: 1 pixel invented; mean score 0.7500 (threshold 0.5000); predicted as road (100 %)"
        );
        let mut gallery = Gallery::default();
        add(&mut gallery, "0008", &["oo.", "..."], None);
        assert_eq!(
            gallery.missed[0].caption("missed", 0.5),
            "0008: 2 pixels missed; mean score 0.2500 (threshold 0.5000)"
        );
    }
}
