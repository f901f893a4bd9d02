//! The fitted detector: from a frame to what is followed.

use super::detections::RoadView;
use super::path::Path;
use super::tracks::{Criteria, Tracks};
use crate::frame_network::FrameScorer;
use crate::level::{ClassLevel, Fields};
use offnominal_core::prelude::*;
use std::ops::Range;
use std::sync::Arc;

/// What looks at a frame.
pub struct Fitted {
    pub scorer: FrameScorer,
    /// What is usual.
    pub level: ClassLevel,
    /// Least excess of a pixel of a thing on the road.
    pub occupied: f32,
    pub view: RoadView,
    pub criteria: Criteria,
    /// The rows that are looked at.
    pub rows: Range<usize>,
    /// Rows of a frame.
    pub height: usize,
    /// Which classes are drivable.
    pub drivable: Vec<bool>,
    /// Which classes are of things on the road.
    pub things: Vec<bool>,
}

/// Watches an episode; copies share what was learned.
#[derive(Clone)]
pub struct ObstacleMonitor {
    fitted: Arc<Fitted>,
    path: Path,
    tracks: Tracks,
    /// How unusual the pixels of the last frame are.
    above: Vec<f32>,
}

impl ObstacleMonitor {
    /// Before its first frame.
    pub fn new(fitted: Fitted) -> ObstacleMonitor {
        ObstacleMonitor {
            tracks: Tracks::new(fitted.criteria),
            fitted: Arc::new(fitted),
            path: Path::default(),
            above: Vec::new(),
        }
    }
}

impl ImageScorer for ObstacleMonitor {
    fn reset(&mut self) {
        self.path = Path::default();
        self.tracks = Tracks::new(self.fitted.criteria);
        self.above.clear();
    }

    fn score(&mut self, transition: FrameTransition<'_>) -> f64 {
        let fitted = &self.fitted;
        let scored = fitted.scorer.scores(transition.next_frame);
        let is_one = |of: &[bool]| scored.1.iter().map(|&class| of[usize::from(class)]).collect::<Vec<_>>();
        self.path = self.path.next(&is_one(&fitted.drivable), &fitted.rows, &fitted.view.ground);
        self.above = fitted.level.above(&scored);
        let excess = fitted.excess(&self.above, &is_one(&fitted.things));
        self.tracks.add(&fitted.view.things(&excess, &self.path));
        self.tracks.evidence()
    }

    fn heat(&self) -> Option<Heat> {
        (!self.above.is_empty()).then(|| self.fitted.heat(&self.above))
    }
}

impl Fitted {
    /// The excess of each pixel, more than 0 if it is unusual or one of a thing on the road.
    fn excess(&self, above: &[f32], is_thing: &[bool]) -> Vec<f32> {
        let excess = |(&above, &is_thing): (&f32, &bool)| match is_thing {
            true => above.max(self.occupied),
            false => above,
        };
        above.iter().zip(is_thing).map(excess).collect()
    }

    /// The largest excess of each field of the whole frame.
    fn heat(&self, above: &[f32]) -> Heat {
        let width = self.scorer.width();
        let fields = Fields::of(self.height * width, width);
        let least = above.iter().copied().fold(0.0, f32::min);
        let mut values = vec![least; fields.count()];
        for (pixel, &excess) in above.iter().enumerate() {
            let largest = &mut values[fields.at(self.rows.start * width + pixel)];
            *largest = largest.max(excess);
        }
        Heat::new(fields.rows, fields.columns, values)
    }
}
