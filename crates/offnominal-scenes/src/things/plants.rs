//! Trees of several forms, hedges and bushes. A crown is made of many clusters of leaves on branches.

use super::{between, chance, pick, shade};
use crate::body::{Body, Part, ball, bar, cone, hull};
use crate::class::Class;
use crate::hull::Lean;
use crate::material::Material;
use crate::town::Town;
use offnominal_core::Rng;
use offnominal_core::vec3::Vec3;

/// When in the year a scene is; all its trees agree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Season {
    /// Leaves in the colours of the town.
    Summer,
    /// Yellow and brown leaves.
    Autumn,
    /// Bare branches.
    Winter,
}

const AUTUMN: [[f32; 3]; 4] = [[0.32, 0.16, 0.03], [0.24, 0.1, 0.03], [0.36, 0.24, 0.05], [0.14, 0.11, 0.04]];
const NEEDLES: [[f32; 3]; 2] = [[0.03, 0.07, 0.04], [0.04, 0.08, 0.05]];

impl Season {
    /// Draws one.
    pub fn draw(rng: &mut Rng) -> Season {
        pick(rng, &[Season::Summer, Season::Summer, Season::Summer, Season::Autumn, Season::Winter])
    }

    fn leaves(self, rng: &mut Rng, town: &Town) -> Vec3 {
        if self == Season::Autumn { shade(rng, &AUTUMN, 0.25) } else { shade(rng, &town.leaves, 0.3) }
    }
}

fn bark(rng: &mut Rng) -> Material {
    let colours = [[0.06, 0.045, 0.033], [0.09, 0.08, 0.07], [0.05, 0.04, 0.035]];
    Material::Mottled(shade(rng, &colours, 0.3), 0.3, 5.0)
}

/// The form of a crown: its width and height over its size, and how the clusters widen or narrow upward.
const CROWNS: [[f32; 3]; 5] =
    [[1.0, 0.9, 0.0], [0.85, 1.25, -0.25], [0.7, 1.5, -0.2], [1.3, 0.7, 0.15], [0.95, 1.1, -0.6]];

/// A tree; its trunk counts as vegetation.
pub fn tree(rng: &mut Rng, town: &Town, season: Season) -> Body {
    let parts = match rng.below(5) {
        0 => conifer(rng),
        _ if season == Season::Winter => bare(rng),
        _ => leafy(rng, town, season),
    };
    Body { class: Class::Vegetation, parts, footprint: [0.4, 0.4] }
}

/// A trunk that forks, and clusters of leaves around the ends of its branches.
fn leafy(rng: &mut Rng, town: &Town, season: Season) -> Vec<Part> {
    let [wide, tall, taper] = pick(rng, &CROWNS);
    let (trunk, size, bark) = (between(rng, 1.8, 3.0), between(rng, 2.2, 4.2), bark(rng));
    let (wide, tall) = (wide * size, tall * size);
    let mut parts =
        vec![bar([0.0, -0.4, 0.0], [0.0, trunk + 0.5 * tall, 0.0], [between(rng, 0.26, 0.46), 0.1], bark)];
    let colour = season.leaves(rng, town);
    let clusters = 9 + rng.below(5);
    let turn = between(rng, 0.0, 6.3);
    for i in 0..clusters {
        // Up the crown in a spiral; the golden angle spreads clusters evenly around the trunk.
        let level = (i as f32 + 0.5) / clusters as f32;
        let (sin, cos) = (turn + 2.4 * i as f32).sin_cos();
        let bulge = (1.0 - (2.0 * level - 1.0).powi(2)).max(0.0).sqrt() * (1.0 + taper * (2.0 * level - 1.0));
        let out = 0.34 * wide * bulge * between(rng, 0.6, 1.1);
        let at = [out * sin, trunk + tall * level + between(rng, -0.1, 0.1) * size, out * cos];
        let girth = (0.3 + 0.3 * bulge) * wide.clamp(0.85 * size, 1.2 * size) * between(rng, 0.75, 1.15);
        let tone = (0.72 + 0.5 * level) * between(rng, 0.85, 1.15);
        let high = (girth * between(rng, 0.6, 0.9)).max(2.5 * tall / clusters as f32);
        parts.push(ball(at, [girth, high, girth], Material::Foliage(colour * tone)));
        if i < 4 {
            parts.push(bar([0.0, trunk * 0.85, 0.0], at, [0.12, 0.04], bark));
        }
    }
    parts
}

/// Rings of boughs, each narrower than the one below.
fn conifer(rng: &mut Rng) -> Vec<Part> {
    let (height, wide) = (between(rng, 5.0, 10.0), between(rng, 2.2, 3.6));
    let colour = shade(rng, &NEEDLES, 0.3);
    let mut parts = vec![bar([0.0, -0.4, 0.0], [0.0, 0.9 * height, 0.0], [0.3, 0.05], bark(rng))];
    let rings = 5 + rng.below(3);
    for i in 0..rings {
        let level = i as f32 / rings as f32;
        let width = wide * (1.0 - 0.85 * level) * between(rng, 0.9, 1.1);
        let (low, tall) = (0.9 + level * (height - 1.2), 1.7 * height / rings as f32);
        let needles = Material::Foliage(colour * between(rng, 0.8, 1.25));
        parts.push(cone([0.0, low, 0.0], [width, 0.12 * width], tall, needles));
        // Boughs inside close the gaps between needles.
        let inside = Material::Mottled(colour * 0.55, 0.5, 4.0);
        parts.push(cone([0.0, low + 0.1 * tall, 0.0], [0.78 * width, 0.06 * width], 0.85 * tall, inside));
    }
    parts
}

/// A trunk with boughs, each of which ends in twigs.
fn bare(rng: &mut Rng) -> Vec<Part> {
    let (trunk, size, bark) = (between(rng, 1.8, 2.8), between(rng, 2.2, 3.8), bark(rng));
    let mut parts =
        vec![bar([0.0, -0.4, 0.0], [0.0, trunk + 0.7 * size, 0.0], [between(rng, 0.26, 0.4), 0.08], bark)];
    for i in 0..7 {
        let (sin, cos) = (2.4 * i as f32 + between(rng, -0.3, 0.3)).sin_cos();
        let from = [0.0, trunk * 0.8 + 0.09 * size * i as f32, 0.0];
        let out = size * between(rng, 0.3, 0.5) * (1.0 - 0.07 * i as f32);
        let to = [out * sin, from[1] + between(rng, 0.35, 0.6) * size, out * cos];
        parts.push(bar(from, to, [0.13, 0.05], bark));
        for _ in 0..3 {
            let aside = |rng: &mut Rng| between(rng, -0.22, 0.22) * size;
            let tip = [to[0] + aside(rng), to[1] + between(rng, 0.1, 0.35) * size, to[2] + aside(rng)];
            let fork = Vec3::from(from).lerp(to.into(), between(rng, 0.5, 0.95));
            parts.push(bar([fork.x, fork.y, fork.z], tip, [0.06, 0.025], bark));
        }
    }
    parts
}

/// A bush of a few clusters, or a piece of a trimmed hedge.
pub fn bush(rng: &mut Rng, town: &Town, season: Season) -> Body {
    let (width, height) = (between(rng, 1.0, 2.6), between(rng, 0.8, 1.7));
    let colour = shade(rng, &town.leaves, 0.35) * if season == Season::Winter { 0.7 } else { 1.0 };
    if chance(rng, 0.35) {
        let leaves = Material::Foliage(colour);
        let parts = vec![
            hull([0.0, -0.4, 0.0], [0.9, height + 0.4, 1.5 * width], Lean::even(0.05), leaves),
            // Twigs inside close the gaps between leaves.
            hull(
                [0.0, -0.4, 0.0],
                [0.7, height + 0.3, 1.4 * width],
                Lean::even(0.05),
                Material::Mottled(colour * 0.5, 0.4, 5.0),
            ),
        ];
        return Body { class: Class::Vegetation, parts, footprint: [0.9, 1.5 * width] };
    }
    let cluster = |rng: &mut Rng| {
        let size = width * between(rng, 0.5, 0.8);
        let aside = |rng: &mut Rng| between(rng, -0.3, 0.3) * width;
        let at = [aside(rng), height * between(rng, 0.3, 0.6), aside(rng)];
        ball(
            at,
            [size, height * between(rng, 0.6, 0.9), size],
            Material::Foliage(colour * between(rng, 0.75, 1.25)),
        )
    };
    let parts = (0..5).map(|_| cluster(rng)).collect();
    Body { class: Class::Vegetation, parts, footprint: [0.8 * width, width] }
}
