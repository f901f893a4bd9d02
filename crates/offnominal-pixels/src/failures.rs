//! What went wrong: pixels that are called unknown and are known, and those that are missed, sorted by where they are.
//!
//! The first of these that applies is the cause: *boundary* (within two pixels of another label), *shadow* (where a data
//! set says so), *distance* (more than 30 m, where a data set has depth), *wrong class* (the network takes a known pixel
//! for another class), *confident* (an unknown pixel that is scored below nine tenths of all pixels of its image),
//! *other*.

use crate::data_set::{DataSet, Labels, Sample};
use crate::label_map::KNOWN_ANY;
use crate::scenes::DEPTH_UNITS;
use anyhow::Result;
use offnominal_stats::pixel::Truth;
use serde::{Deserialize, Serialize};

/// A cause.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[allow(missing_docs, reason = "the head of the file says what they are")]
pub enum Cause {
    Boundary,
    Shadow,
    Distance,
    WrongClass,
    Confident,
    Other,
}

/// All causes, in the order in which they are asked for.
pub const CAUSES: [Cause; 6] =
    [Cause::Boundary, Cause::Shadow, Cause::Distance, Cause::WrongClass, Cause::Confident, Cause::Other];

impl Cause {
    /// In words.
    pub fn name(self) -> &'static str {
        match self {
            Cause::Boundary => "boundary",
            Cause::Shadow => "shadow",
            Cause::Distance => "distance",
            Cause::WrongClass => "wrong class",
            Cause::Confident => "confident",
            Cause::Other => "other",
        }
    }
}

/// Farther than this is far, in metres.
const FAR_M: f32 = 30.0;
/// Pixels from a boundary that belong to it.
const REACH: usize = 2;
/// Share of an image's pixels that score higher than a pixel that is scored confidently.
const CONFIDENT: f64 = 0.9;

/// What surrounds the things in an image: boundaries, and shadows and distances where a data set has them.
pub struct Surroundings {
    shadow: Option<Vec<bool>>,
    is_far: Option<Vec<bool>>,
    boundary: Vec<bool>,
}

impl Surroundings {
    /// Reads `shadows/NAME.png` and `depth/NAME.png`, if they are there.
    ///
    /// # Errors
    /// If one is damaged or has another size.
    pub fn load(set: &DataSet, sample: &Sample, labels: &Labels) -> Result<Surroundings> {
        let read = |folder| set.numbers_beside(sample, folder, labels);
        let is_far = |units: u16| units == 0 || f32::from(units) > FAR_M * DEPTH_UNITS;
        Ok(Surroundings {
            shadow: read("shadows")?.map(|all| all.into_iter().map(|s| s > 0).collect()),
            is_far: read("depth")?.map(|all| all.into_iter().map(is_far).collect()),
            boundary: near_boundary(labels),
        })
    }
}

/// Counts of wrong pixels by cause, over all images and for each.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Failures {
    /// The method.
    pub method: String,
    /// Its threshold, that of MaxIoU.
    pub threshold: f64,
    /// Known pixels at or above the threshold, by cause.
    pub false_alarms: [u64; 6],
    /// Unknown pixels below the threshold, by cause.
    pub missed: [u64; 6],
    /// Unknown pixels at or above it.
    pub found: u64,
    /// The same of each image: false alarms and missed together.
    #[serde(skip)]
    pub images: Vec<[u64; 6]>,
}

impl Failures {
    /// Nothing went wrong yet.
    pub fn new(method: &str, threshold: f64) -> Failures {
        Failures {
            method: method.into(),
            threshold,
            false_alarms: [0; 6],
            missed: [0; 6],
            found: 0,
            images: Vec::new(),
        }
    }

    /// Adds the image of a number.
    pub fn add(
        &mut self,
        number: usize,
        labels: &Labels,
        surroundings: &Surroundings,
        prediction: Option<&[u8]>,
        scores: &[f32],
    ) {
        let low = quantile(scores, 1.0 - CONFIDENT);
        let mut image = [0; 6];
        for i in 0..scores.len() {
            let is_called = f64::from(scores[i]) >= self.threshold;
            let counts = match (labels.truth[i], is_called) {
                (Truth::Known, true) => &mut self.false_alarms,
                (Truth::Unknown, false) => &mut self.missed,
                (Truth::Unknown, true) => {
                    self.found += 1;
                    continue;
                }
                _ => continue,
            };
            let holds = |list: &Option<Vec<bool>>| list.as_ref().is_some_and(|l| l[i]);
            let is_known = labels.truth[i] == Truth::Known;
            let is_named = labels.ids[i] < KNOWN_ANY;
            let cause = match () {
                () if surroundings.boundary[i] => Cause::Boundary,
                () if holds(&surroundings.shadow) => Cause::Shadow,
                () if holds(&surroundings.is_far) => Cause::Distance,
                () if is_known && is_named && prediction.is_some_and(|p| p[i] != labels.ids[i]) => {
                    Cause::WrongClass
                }
                () if !is_known && scores[i] <= low => Cause::Confident,
                () => Cause::Other,
            };
            counts[cause as usize] += 1;
            image[cause as usize] += 1;
        }
        debug_assert_eq!(self.images.len(), number, "images in order");
        self.images.push(image);
    }

    /// For each cause, the image with the most wrong pixels of it.
    pub fn worst(&self) -> Vec<(Cause, usize)> {
        let most = |cause: Cause| {
            let count = |i: usize| self.images[i][cause as usize];
            (0..self.images.len()).rev().max_by_key(|&i| count(i)).filter(|&i| count(i) > 0)
        };
        CAUSES.iter().filter_map(|&cause| Some((cause, most(cause)?))).collect()
    }
}

/// The value below which a share of the scores lies.
fn quantile(scores: &[f32], share: f64) -> f32 {
    let mut sorted = scores.to_vec();
    let at = ((sorted.len() - 1) as f64 * share) as usize;
    *sorted.select_nth_unstable_by(at, f32::total_cmp).1
}

/// Whether a pixel has another label within [`REACH`] rows and columns.
fn near_boundary(labels: &Labels) -> Vec<bool> {
    let (w, h, ids) = (labels.width, labels.height, &labels.ids);
    let differs = |at: usize| {
        let (row, column) = (at / w, at % w);
        let rows = row.saturating_sub(REACH)..(row + REACH + 1).min(h);
        rows.into_iter().any(|r| {
            let line = &ids[r * w..(r + 1) * w];
            line[column.saturating_sub(REACH)..(column + REACH + 1).min(w)].iter().any(|&id| id != ids[at])
        })
    };
    (0..ids.len()).map(differs).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_wrong_pixel_has_one_cause_and_right_ones_have_none() {
        let (width, height) = (16, 8);
        let ids: Vec<u8> = (0..128).map(|i| if i % width < 8 { 0 } else { 254 }).collect();
        let truth = ids.iter().map(|&id| if id == 0 { Truth::Known } else { Truth::Unknown }).collect();
        let labels = Labels { width, height, ids, truth };
        // Everything is called unknown but the last columns; the network takes column 0 for class 1.
        let scores: Vec<f32> = (0..128).map(|i| if i % width < 12 { 1.0 } else { 0.0 }).collect();
        let prediction: Vec<u8> = (0..128).map(|i| u8::from(i % width == 0)).collect();
        let column = |c: usize| Some((0..128).map(|i| i % width == c).collect());
        let surroundings =
            Surroundings { shadow: column(1), is_far: column(2), boundary: near_boundary(&labels) };
        let mut failures = Failures::new("m", 0.5);
        failures.add(0, &labels, &surroundings, Some(&prediction), &scores);
        assert_eq!(failures.false_alarms, [16, 8, 8, 8, 0, 24]);
        assert_eq!((failures.missed, failures.found), ([0, 0, 0, 0, 32, 0], 32));
        let worst: Vec<Cause> = failures.worst().into_iter().map(|w| w.0).collect();
        assert_eq!(worst, CAUSES);
    }
}
