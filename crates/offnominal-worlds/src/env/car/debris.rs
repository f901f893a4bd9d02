//! What has fallen onto the road: crates, furniture, tyres, at places of the track's own.
//!
//! The centre line is divided into pieces of [`EVERY_M`], and each has one thing, which lies there if the debris is dense
//! enough for it. So denser debris adds things and moves none, and what lies where depends on the track alone. Nobody
//! sees debris but the cameras: the driver's sensors do not, and other drivers pass over it. A car that touches it fails.

use super::models::{Part, dull, part};
use super::track::{LANE_WIDTH_M, LANES, Track};
use offnominal_core::Rng;

/// Distance from one place to the next, m, nearly.
pub const EVERY_M: f64 = 5.0;
/// Things per 100 m where every place has one.
pub const DENSEST: f64 = 100.0 / EVERY_M;

/// Largest distance from the centre line, m: the lanes, and a little of the shoulders.
const REACH_M: f64 = 0.5 * LANES as f64 * LANE_WIDTH_M + 0.5;

/// How a thing looks, and the length and width that it takes on the road, m.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Model {
    parts: &'static [Part],
    size: [f64; 2],
}

const MODELS: [Model; 7] = [
    // A crate with a lid.
    Model {
        parts: &[part(0.0, 0.0, [0.9, 0.9, 0.7]), dull(0.0, 0.7, [1.0, 1.0, 0.08], [96, 74, 50])],
        size: [1.0; 2],
    },
    // A sofa, seen from the front or the back.
    Model {
        parts: &[part(0.0, 0.0, [0.9, 1.9, 0.42]), part(0.36, 0.42, [0.18, 1.9, 0.45])],
        size: [0.9, 1.9],
    },
    // A pile of tyres.
    Model {
        parts: &[
            dull(0.0, 0.0, [0.75, 0.75, 0.44], [34, 34, 36]),
            dull(0.05, 0.44, [0.7, 0.7, 0.22], [44, 44, 46]),
        ],
        size: [0.75; 2],
    },
    // A refrigerator on its side.
    Model { parts: &[part(0.0, 0.0, [0.7, 1.7, 0.65])], size: [0.7, 1.7] },
    // A barrel.
    Model {
        parts: &[part(0.0, 0.0, [0.6, 0.6, 0.85]), dull(0.0, 0.3, [0.62, 0.62, 0.12], [210, 208, 200])],
        size: [0.62; 2],
    },
    // A trunk across the lane.
    Model { parts: &[dull(0.0, 0.0, [0.45, 2.6, 0.45], [88, 68, 46])], size: [0.45, 2.6] },
    // A heap of rubble, as grey as the road.
    Model {
        parts: &[
            dull(0.0, 0.0, [1.4, 1.4, 0.25], [96, 96, 94]),
            dull(0.1, 0.25, [0.8, 0.9, 0.25], [112, 110, 104]),
        ],
        size: [1.4; 2],
    },
];

const COLOURS: [[u8; 3]; 6] =
    [[150, 112, 66], [206, 206, 200], [60, 92, 150], [204, 108, 36], [126, 48, 96], [92, 96, 92]];

/// A thing on the road, along which it is aligned.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Piece {
    /// Position along the centre line, m.
    pub position: f64,
    /// Leftward distance from the centre line, m.
    pub across: f64,
    /// Its boxes.
    pub parts: &'static [Part],
    /// Colour of those that have none of their own.
    pub colour: [u8; 3],
    /// Length and width that it takes on the road, m.
    pub size: [f64; 2],
    /// Things per 100 m above which it lies there.
    above: f64,
}

/// All that may lie on a track.
#[derive(Debug, Clone, PartialEq)]
pub struct Debris {
    /// One for each place, in the order of the road.
    pieces: Vec<Piece>,
    pieces_per_m: f64,
}

impl Debris {
    /// What a seed leaves on a track.
    pub fn on(track: &Track, seed: u64) -> Debris {
        let mut rng = Rng::new(seed);
        let n = (track.length_m / EVERY_M) as usize;
        let pieces_per_m = n as f64 / track.length_m;
        let pieces = (0..n).map(|i| Piece::draw((i as f64 + 0.5) / pieces_per_m, &mut rng)).collect();
        Debris { pieces, pieces_per_m }
    }

    /// What lies between two positions, later than the first, where there are so many things per 100 m.
    pub fn between(&self, from: f64, to: f64, density: f64) -> impl Iterator<Item = &Piece> {
        let place = |s: f64| (s * self.pieces_per_m).floor() as i64;
        let places = if density > 0.0 { place(from)..place(to) } else { 0..0 };
        let piece = |i: i64| &self.pieces[i.rem_euclid(self.pieces.len() as i64) as usize];
        places.map(piece).filter(move |piece| piece.above < density)
    }
}

impl Piece {
    fn draw(position: f64, rng: &mut Rng) -> Piece {
        let Model { parts, size } = MODELS[rng.below(MODELS.len())];
        let colour = COLOURS[rng.below(COLOURS.len())];
        let across = rng.range(-REACH_M, REACH_M);
        Piece { position, across, parts, colour, size, above: rng.range(0.0, DENSEST) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_as_much_as_is_asked_for_and_more_moves_none() {
        let track = Track::new(1);
        let debris = Debris::on(&track, 1);
        let lap = |density: f64| -> Vec<f64> {
            debris.between(0.0, track.length_m, density).map(|p| p.position).collect()
        };
        assert!(lap(0.0).is_empty());
        let [few, many, all] = [2.0, 10.0, DENSEST].map(lap);
        assert!(few.iter().all(|s| many.contains(s)) && many.iter().all(|s| all.contains(s)));
        let per_100_m = |found: &[f64]| 100.0 * found.len() as f64 / track.length_m;
        assert!((per_100_m(&few) - 2.0).abs() < 0.5 && (per_100_m(&many) - 10.0).abs() < 1.0);
        assert_eq!(all.len(), debris.pieces.len());
    }

    #[test]
    fn a_lap_later_the_same_things_lie_there() {
        let track = Track::new(1);
        let debris = Debris::on(&track, 1);
        let seen = |from: f64| -> Vec<Piece> { debris.between(from, from + 300.0, 5.0).copied().collect() };
        assert_eq!(seen(1000.0), seen(1000.0 + track.length_m));
        // The first place is the first again behind the last.
        let over = seen(track.length_m - 100.0);
        assert!(over.last().unwrap().position < 210.0 && over[0].position > track.length_m - 110.0);
    }
}
