//! Towns: how roads, houses and trees look in one place. Training, validation and test are in different towns.

use crate::material::srgb;
use offnominal_core::vec3::Vec3;
use serde::{Deserialize, Serialize};

/// Which images a scene is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Split {
    /// Towns A, B and C.
    #[default]
    Train,
    /// Town D.
    Validation,
    /// Town E, whose colours and layout are new; the only split with unknown things.
    Test,
}

offnominal_core::with_defaults! {
    /// How one town looks; the default, town A, has old houses of moderate height, plaster and brick. Colours are in linear
    /// light.
    #[derive(Debug, Clone, PartialEq)]
    pub struct Town {
        /// Its letter.
        pub name: &'static str = "A",
        /// Colours of walls.
        pub walls: Vec<Vec3> = colours(&[[196, 180, 150], [176, 150, 120], [150, 96, 76], [206, 200, 190]]),
        /// Colours of tiled roofs.
        pub roofs: Vec<Vec3> = colours(&TILES),
        /// Colours of leaves.
        pub leaves: Vec<Vec3> = colours(&LEAVES),
        /// Colour of the road, of the sidewalk and of open ground.
        pub ground: [Vec3; 3] = [srgb(96, 96, 98), srgb(140, 136, 130), srgb(112, 116, 72)],
        /// Colour of lane markings.
        pub paint: Vec3 = srgb(214, 214, 208),
        /// Fewest and most floors of a house.
        pub floors: [f32; 2] = [2.0, 5.0],
        /// Metres from window to window.
        pub bays: [f32; 2] = [2.2, 3.2],
        /// Share of houses with a tiled roof.
        pub gables: f32 = 0.6,
        /// Share of houses with a shop.
        pub shops: f32 = 0.4,
        /// Half the width of the road in metres: least and most.
        pub road: [f32; 2] = [3.8, 5.2],
        /// Width of the sidewalk in metres: least and most.
        pub sidewalk: [f32; 2] = [1.8, 3.0],
        /// Shares of lots that are open ground, and of those that have a wall or a fence.
        pub open: [f32; 2] = [0.18, 0.2],
        /// Trees for 100 m of sidewalk.
        pub trees: f32 = 6.0,
        /// Share of the kerb with parked cars.
        pub parked: f32 = 0.35,
    }
}

fn colours(all: &[[u8; 3]]) -> Vec<Vec3> {
    all.iter().map(|&[r, g, b]| srgb(r, g, b)).collect()
}

const LEAVES: [[u8; 3]; 3] = [[74, 92, 46], [92, 106, 56], [62, 80, 48]];
const TILES: [[u8; 3]; 3] = [[124, 66, 50], [92, 60, 52], [78, 78, 82]];

impl Town {
    /// The towns of a split.
    pub fn of(split: Split) -> Vec<Town> {
        match split {
            Split::Train => vec![Town::default(), b(), c()],
            Split::Validation => vec![d()],
            Split::Test => vec![e()],
        }
    }
}

/// A wide street between offices.
fn b() -> Town {
    Town {
        name: "B",
        walls: colours(&[[140, 146, 152], [112, 118, 124], [176, 178, 176], [96, 92, 90]]),
        gables: 0.05,
        shops: 0.6,
        floors: [4.0, 9.0],
        bays: [1.6, 2.6],
        road: [5.6, 7.4],
        sidewalk: [2.6, 4.2],
        open: [0.1, 0.1],
        trees: 5.0,
        parked: 0.2,
        ground: [srgb(84, 86, 90), srgb(150, 150, 150), srgb(96, 104, 66)],
        ..Town::default()
    }
}

/// A suburb with gardens.
fn c() -> Town {
    Town {
        name: "C",
        walls: colours(&[[214, 206, 188], [186, 170, 150], [160, 120, 96], [196, 196, 200]]),
        floors: [1.0, 3.0],
        gables: 0.9,
        shops: 0.1,
        road: [3.2, 4.4],
        sidewalk: [1.2, 2.2],
        open: [0.4, 0.5],
        trees: 10.0,
        parked: 0.2,
        ground: [srgb(106, 104, 102), srgb(150, 142, 132), srgb(100, 118, 62)],
        ..Town::default()
    }
}

/// A mixture of what the others have, with proportions of its own.
fn d() -> Town {
    Town {
        name: "D",
        walls: colours(&[[182, 170, 156], [146, 110, 92], [126, 130, 134], [200, 190, 168]]),
        floors: [2.0, 6.0],
        gables: 0.4,
        road: [4.2, 6.0],
        sidewalk: [1.6, 3.2],
        open: [0.25, 0.3],
        trees: 7.0,
        parked: 0.3,
        ground: [srgb(92, 92, 96), srgb(144, 140, 136), srgb(106, 112, 66)],
        ..Town::default()
    }
}

/// Elsewhere: warm walls, dry ground, yellow markings.
fn e() -> Town {
    Town {
        name: "E",
        walls: colours(&[
            [206, 160, 112],
            [190, 132, 100],
            [172, 178, 150],
            [214, 196, 150],
            [126, 140, 150],
        ]),
        roofs: colours(&[[140, 84, 56], [104, 96, 90]]),
        leaves: colours(&[[98, 100, 54], [80, 94, 60], [116, 108, 64]]),
        ground: [srgb(108, 102, 96), srgb(158, 146, 130), srgb(132, 118, 82)],
        paint: srgb(214, 186, 90),
        floors: [1.0, 7.0],
        bays: [1.8, 3.8],
        gables: 0.3,
        shops: 0.5,
        road: [3.6, 6.6],
        sidewalk: [1.4, 3.6],
        open: [0.28, 0.4],
        trees: 6.0,
        parked: 0.35,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn no_town_is_in_two_splits() {
        let all: Vec<_> =
            [Split::Train, Split::Validation, Split::Test].into_iter().flat_map(Town::of).collect();
        assert_eq!(all.iter().map(|t| t.name).collect::<HashSet<_>>().len(), 5);
    }
}
