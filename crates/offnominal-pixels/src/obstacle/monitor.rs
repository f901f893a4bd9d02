//! The fitted detector: from a frame to what is followed.

use super::ObstacleAhead;
use super::ground::Ground;
use super::path::Path;
use super::tracks::{Sighting, Tracks};
use crate::frame_network::FrameScorer;
use crate::level::{ClassLevel, Fields};
use offnominal_core::prelude::*;
use offnominal_stats::pixel::components::Components;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

/// What looks at a frame.
pub struct Looking {
    pub recipe: ObstacleAhead,
    pub scorer: FrameScorer,
    /// What is usual.
    pub level: ClassLevel,
    pub ground: Ground,
    /// The rows that are looked at.
    pub rows: Range<usize>,
    /// Rows of a frame.
    pub height: usize,
    /// Which classes are drivable.
    pub drivable: Vec<bool>,
}

/// Watches an episode; copies share what was learned.
#[derive(Clone)]
pub struct ObstacleMonitor {
    looking: Arc<Looking>,
    path: Path,
    tracks: Tracks,
    /// How unusual the pixels of the last frame are.
    above: Vec<f32>,
}

impl ObstacleMonitor {
    /// Before its first frame.
    pub fn new(looking: Looking) -> ObstacleMonitor {
        ObstacleMonitor {
            looking: Arc::new(looking),
            path: Path::default(),
            tracks: Tracks::default(),
            above: Vec::new(),
        }
    }
}

impl ImageMonitor for ObstacleMonitor {
    fn reset(&mut self) {
        self.path = Path::default();
        self.tracks = Tracks::default();
        self.above.clear();
    }

    fn score(&mut self, transition: FrameTransition<'_>) -> f64 {
        let looking = &self.looking;
        let scored = looking.scorer.scores(transition.next_frame);
        let drivable: Vec<bool> =
            scored.1.iter().map(|&class| looking.drivable[usize::from(class)]).collect();
        self.path = self.path.next(&drivable, &looking.rows, &looking.ground);
        self.above = looking.level.above(&scored);
        self.tracks.add(&looking.sightings(&self.above, &self.path));
        self.tracks.evidence(&looking.recipe.counting())
    }

    fn heat(&self) -> Option<Heat> {
        (!self.above.is_empty()).then(|| self.looking.heat(&self.above))
    }

    fn fork(&self) -> Box<dyn ImageMonitor> {
        Box::new(self.clone())
    }
}

impl Looking {
    /// What lies on the path, the most unusual first.
    fn sightings(&self, above: &[f32], path: &Path) -> Vec<Sighting> {
        let width = self.scorer.width();
        let found = Components::of(&above.iter().map(|&x| x > 0.0).collect::<Vec<_>>(), width);
        let mut pixels = vec![Vec::new(); found.sizes.len()];
        for (at, &label) in found.labels.iter().enumerate().filter(|(_, label)| **label > 0) {
            pixels[label as usize - 1].push((at / width, at % width, f64::from(above[at])));
        }
        joined(pixels.iter().filter_map(|pixels| self.sighting(pixels, path)).collect())
    }

    /// What of a component lies on the path. Each of its columns stands where its lowest pixel meets the road: the far side
    /// of a car in the next lane is seen nearer to the path than it is. `pixels` are rows, columns and excesses, row by row.
    fn sighting(&self, pixels: &[(usize, usize, f64)], path: &Path) -> Option<Sighting> {
        // Lowest row and sum of excesses of each column.
        let mut columns: BTreeMap<usize, (usize, f64)> = BTreeMap::new();
        for &(row, column, excess) in pixels {
            let entry = columns.entry(column).or_insert((row, 0.0));
            *entry = (row, entry.1 + excess);
        }
        let (mut nearest, mut middle, mut total) = (f64::INFINITY, 0.0, 0.0);
        for (column, (row, excess)) in columns {
            let foot = [(self.rows.start + row + 1) as f64, column as f64 + 0.5];
            let [ahead, right] = self.ground.place(foot);
            let beside = right - path.right(ahead);
            if beside.abs() <= 0.5 * self.recipe.path_m {
                nearest = nearest.min(ahead);
                middle += excess * beside;
                total += excess;
            }
        }
        let excess = total / self.ground.pixels_per_m(nearest).powi(2);
        (total > 0.0).then(|| Sighting {
            ahead: nearest - self.recipe.nose_m,
            beside: middle / total,
            excess,
        })
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

/// Parts of one thing as one, the most unusual first.
fn joined(mut parts: Vec<Sighting>) -> Vec<Sighting> {
    parts.sort_by(|a, b| b.excess.total_cmp(&a.excess));
    let mut things: Vec<Sighting> = Vec::new();
    for part in parts {
        match things.iter_mut().find(|thing| thing.is_beside(&part)) {
            Some(thing) => thing.excess += part.excess,
            None => things.push(part),
        }
    }
    things
}
