//! From unusual pixels to things on the path.

use super::ground::Ground;
use super::path::Path;
use super::tracks::Detection;
use offnominal_stats::pixel::components::Components;
use std::collections::BTreeMap;

/// What is needed to say where a pixel of the rows that are looked at lies.
#[derive(Debug, Clone, Copy)]
pub struct RoadView {
    pub ground: Ground,
    /// The first of the rows.
    pub first_row: usize,
    /// Pixels per row.
    pub width: usize,
    /// Width of the path, m.
    pub path_m: f64,
}

impl RoadView {
    /// What lies on the path, the most unusual first.
    pub fn things(&self, above: &[f32], path: &Path) -> Vec<Detection> {
        let width = self.width;
        let found = Components::of(&above.iter().map(|&x| x > 0.0).collect::<Vec<_>>(), width);
        let mut pixels = vec![Vec::new(); found.sizes.len()];
        for (at, &label) in found.labels.iter().enumerate().filter(|(_, label)| **label > 0) {
            pixels[label as usize - 1].push((at / width, at % width, f64::from(above[at])));
        }
        joined(pixels.iter().filter_map(|pixels| self.detection(pixels, path)).collect())
    }

    /// What of a component lies on the path. Each of its columns stands where its lowest pixel meets the road: the far side
    /// of a car in the next lane is seen nearer to the path than it is. A column counts in full in the middle of the path and
    /// less towards its edges, of which nobody knows where exactly they are. `pixels` are rows, columns and excesses, row by
    /// row.
    fn detection(&self, pixels: &[(usize, usize, f64)], path: &Path) -> Option<Detection> {
        // Lowest row and sum of excesses of each column.
        let mut columns: BTreeMap<usize, (usize, f64)> = BTreeMap::new();
        for &(row, column, excess) in pixels {
            let entry = columns.entry(column).or_insert((row, 0.0));
            *entry = (row, entry.1 + excess);
        }
        let (mut nearest, mut middle, mut total) = (f64::INFINITY, 0.0, 0.0);
        for (column, (row, excess)) in columns {
            let foot = [(self.first_row + row + 1) as f64, column as f64 + 0.5];
            let [ahead, right] = self.ground.place(foot);
            let beside = right - path.right(ahead);
            let share = 1.0 - (2.0 * beside / self.path_m).powi(2);
            if share > 0.0 {
                nearest = nearest.min(ahead);
                middle += share * excess * beside;
                total += share * excess;
            }
        }
        let excess = total / self.ground.pixels_per_m(nearest).powi(2);
        (total > 0.0).then(|| Detection { ahead: nearest, beside: middle / total, excess })
    }
}

/// Parts of one thing as one, the most unusual first.
fn joined(mut parts: Vec<Detection>) -> Vec<Detection> {
    parts.sort_by(|a, b| b.excess.total_cmp(&a.excess));
    let mut things: Vec<Detection> = Vec::new();
    for part in parts {
        match things.iter_mut().find(|thing| thing.is_beside(&part)) {
            Some(thing) => thing.excess += part.excess,
            None => things.push(part),
        }
    }
    things
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows 128 to 160 of frames of 256 × 256 pixels.
    fn view() -> RoadView {
        let ground = Ground::new(90.0, 1.5, (256, 256));
        RoadView { ground, first_row: 128, width: 256, path_m: 2.4 }
    }

    /// Things seen where rows and columns of the frame exceed by 2.
    fn things(boxes: &[([usize; 2], [usize; 2])]) -> Vec<Detection> {
        let mut above = vec![-1.0; 32 * 256];
        for ([top, low], [left, right]) in boxes {
            for row in *top..*low {
                above[(row - 128) * 256..][*left..*right].fill(2.0);
            }
        }
        view().things(&above, &Path::default())
    }

    /// What columns count together at 16 m, where a metre is 8 pixels and the path is 1.2 m wide to either side.
    fn shares(columns: std::ops::Range<u8>) -> f64 {
        columns.map(|column| 1.0 - ((f64::from(column) - 127.5) / 8.0 / 1.2).powi(2)).sum()
    }

    #[test]
    fn a_thing_stands_on_its_lowest_row_and_counts_by_its_size_in_metres() {
        // Its lowest edge is 12 pixels below the horizon: 128 · 1.5 / 12 = 16 m from the camera.
        let [thing] = things(&[([134, 140], [124, 132])])[..] else { panic!("one thing") };
        assert!((thing.ahead - 16.0).abs() < 1e-9 && thing.beside.abs() < 1e-9);
        assert!((thing.excess - 2.0 * 6.0 * shares(124..132) / 64.0).abs() < 1e-9, "{thing:?}");
    }

    #[test]
    fn only_what_lies_on_the_path_counts() {
        // Two metres aside at 16 m is 16 pixels.
        assert!(things(&[([134, 140], [140, 148])]).is_empty());
        // A part of this one: the path ends 9.6 pixels from the middle.
        let [thing] = things(&[([134, 140], [132, 144])])[..] else { panic!("one thing") };
        assert!((thing.excess - 2.0 * 6.0 * shares(132..138) / 64.0).abs() < 1e-9, "{thing:?}");
    }

    #[test]
    fn parts_side_by_side_are_one_thing_and_those_one_behind_the_other_are_two() {
        let parts = things(&[([134, 140], [120, 126]), ([134, 140], [128, 134])]);
        assert_eq!(parts.len(), 1);
        assert_eq!(things(&[([131, 134], [124, 132]), ([140, 146], [124, 132])]).len(), 2);
    }
}
