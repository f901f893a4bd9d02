//! What moves in a street or could: vehicles that park or drive, and persons.

use crate::body::{Body, Stand};
use crate::class::Class;
use crate::scene::Scene;
use crate::street::{FAR_M, Layout};
use crate::things::{between, chance, cycles, heavy, people, pick, vehicles};
use offnominal_core::Rng;
use offnominal_core::vec3::Vec3;
use std::f32::consts::{FRAC_PI_2, PI};

impl Layout<'_> {
    /// Vehicles that stand along the kerb.
    pub fn parked(&mut self, rng: &mut Rng, side: f32) {
        let mut z = between(rng, 4.0, 14.0);
        while z < 0.8 * FAR_M {
            if chance(rng, self.town.parked) && !self.ground.crosses(side, z, 8.0) {
                let body = if chance(rng, 0.06) { cycles::motorcycle(rng) } else { vehicles::car(rng) };
                let lateral = side * (self.ground.half_road - 0.5 * body.footprint[0] - 0.2);
                let turn = if side < 0.0 { PI } else { 0.0 } + between(rng, -0.04, 0.04);
                self.put_if_free(&body, self.ground.beside(lateral, z, turn));
            }
            z += between(rng, 5.6, 8.0);
        }
    }

    /// Vehicles that drive, in both directions.
    pub fn traffic(&mut self, rng: &mut Rng) {
        for (lane, turn) in [(0.45, 0.0), (-0.45, PI)] {
            let mut z = between(rng, if turn == 0.0 { 9.0 } else { 6.0 }, 30.0);
            while z < 0.8 * FAR_M {
                let body = driven(rng);
                let near_kerb = if body.footprint[0] < 1.0 { 1.35 } else { 1.0 };
                let lateral = lane * near_kerb * self.ground.half_road;
                self.put_if_free(&body, self.ground.beside(lateral, z, turn + between(rng, -0.05, 0.05)));
                z += body.footprint[1] + between(rng, 6.0, 45.0);
            }
        }
    }

    /// Persons on the sidewalks, most of them along the street, and a few on the road.
    pub fn walkers(&mut self, rng: &mut Rng) {
        for _ in 0..3 + rng.below(8) {
            let z = 5.0 + 60.0 * between(rng, 0.0, 1.0).powi(2);
            let walk = self.ground.half_road + between(rng, 0.5, self.ground.sidewalk.max(0.8));
            let crosses = chance(rng, 0.12);
            let lateral = if crosses {
                between(rng, -1.0, 1.0) * self.ground.half_road
            } else {
                pick(rng, &[-1.0, 1.0]) * walk
            };
            let turn = pick(rng, &[0.0, PI]) + if crosses { FRAC_PI_2 } else { between(rng, -0.6, 0.6) };
            let stand = self.ground.beside(lateral, z, turn);
            if self.scene.is_free(stand.at.x, stand.at.z, 0.4) {
                let body = people::person(rng);
                self.put(&body, stand);
            }
        }
    }
}

fn driven(rng: &mut Rng) -> Body {
    match rng.uniform() {
        u if u < 0.64 => vehicles::car(rng),
        u if u < 0.77 => heavy::truck(rng),
        u if u < 0.84 => heavy::bus(rng),
        u if u < 0.87 => heavy::tram(rng),
        _ => cycles::cyclist(rng),
    }
}

/// A known thing in an odd place: a person on the roof of a car. It is no unknown thing.
pub fn oddity(rng: &mut Rng, scene: &mut Scene) {
    let cars = scene.things.iter().filter(|t| t.class == Class::Car && t.at.z > 6.0 && t.at.z < 40.0);
    let places: Vec<Vec3> = cars.map(|t| t.at).collect();
    if !places.is_empty() {
        let Vec3 { x, y, z } = pick(rng, &places);
        let body = people::person(rng);
        let roof = Stand::level(x, z, between(rng, 0.0, 6.3));
        scene.put(&body, Stand { at: Vec3 { y: y + 1.4, ..roof.at }, ..roof }, "");
    }
}
