//! Puts into a street what training never shows.

use crate::body::Stand;
use crate::difficulty::{Difficulty, Distance};
use crate::ground::Ground;
use crate::scene::{Floor, Scene};
use crate::things::unknown::KINDS;
use crate::things::{between, chance, pick, vehicles};
use offnominal_core::Rng;
use std::f32::consts::PI;

/// How often a free place is looked for.
const TRIES: usize = 15;

/// Puts one to three unknown things onto the road and beside it.
pub fn unknown(rng: &mut Rng, difficulty: Difficulty, scene: &mut Scene) {
    let Floor::Street(ground) = scene.floor.clone() else { return };
    for _ in 0..1 + rng.below(3) {
        // A generator of its own: what one thing draws does not change the next one.
        let rng = &mut Rng::new(rng.bits());
        let kind = pick(rng, &KINDS);
        let mut places = [(); TRIES].map(|()| place(rng, difficulty.distance, &ground)).into_iter();
        let body = kind.build(rng, difficulty.contrast, ground.road_colour());
        let size = difficulty.size.factor();
        let radius = 0.4 * size * (body.footprint[0] + body.footprint[1]);
        if let Some(stand) = places.find(|stand| scene.is_free(stand.at.x, stand.at.z, radius)) {
            scene.put(&body, Stand { size, ..ground.lying(stand) }, kind.name);
        }
    }
}

/// A place on the road or, in one of three, up to the outer edge of a sidewalk.
fn place(rng: &mut Rng, distance: Distance, ground: &Ground) -> Stand {
    let z = distance.quantile(between(rng, 0.0, 1.0));
    let reach = ground.half_road + if chance(rng, 0.35) { ground.sidewalk } else { -0.3 };
    ground.beside(between(rng, -1.0, 1.0) * reach, z, between(rng, 0.0, 6.3))
}

/// Vehicles for the three-wheeler analogue: a few of them among cars.
pub fn three_wheelers(rng: &mut Rng, scene: &mut Scene) {
    let Floor::Street(ground) = scene.floor.clone() else { return };
    for _ in 0..2 + rng.below(3) {
        let z = 7.0 * 6.0_f32.powf(between(rng, 0.0, 1.0));
        let (lane, turn) = pick(rng, &[(0.45, 0.0), (-0.45, PI), (0.8, 0.0)]);
        let stand = ground.beside(lane * ground.half_road, z, turn + between(rng, -0.2, 0.2));
        if scene.is_free(stand.at.x, stand.at.z, 1.3) {
            let body = vehicles::three_wheeler(rng);
            scene.put(&body, ground.lying(stand), "three-wheeler");
        }
    }
}
