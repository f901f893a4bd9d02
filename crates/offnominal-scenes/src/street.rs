//! Draws a street: houses along it, then trees and poles, then traffic and people.

use crate::body::{Body, Stand};
use crate::class::Class;
use crate::ground::Ground;
use crate::scene::{Camera, Floor, Scene};
use crate::things::plants::Season;
use crate::things::{between, chance, cycles, heavy, houses, people, pick, plants, poles, vehicles};
use crate::town::Town;
use crate::weather::Weather;
use offnominal_core::Rng;
use offnominal_core::vec3::Vec3;
use std::f32::consts::{FRAC_PI_2, PI};

/// How far things stand, in metres.
const FAR_M: f32 = 130.0;

/// A street in a town, without anything unknown.
pub fn street(rng: &mut Rng, town: &Town, weather: Weather) -> Scene {
    let ground = Ground::draw(rng, town);
    let (light, is_night) = (weather.light(rng), weather == Weather::Night);
    let mut scene = Scene {
        camera: Camera {
            height_m: between(rng, 1.2, 1.6),
            pitch: between(rng, -0.05, 0.05),
            focal: between(rng, 0.85, 1.05),
        },
        light,
        floor: Floor::Street(Box::new(ground.clone())),
        solids: Vec::new(),
        things: Vec::new(),
        exposure: between(rng, 0.85, 1.15) * if is_night { 1.7 } else { 1.0 },
        noise: between(rng, 0.5, 3.0) + if is_night { 1.5 } else { 0.0 },
    };
    let season = Season::draw(rng);
    Layout { town, ground: &ground, season, scene: &mut scene }.fill(rng);
    scene
}

/// What is needed to place the things of a street.
struct Layout<'a> {
    town: &'a Town,
    ground: &'a Ground,
    season: Season,
    scene: &'a mut Scene,
}

impl Layout<'_> {
    fn fill(&mut self, rng: &mut Rng) {
        for side in [-1.0, 1.0] {
            self.lots(rng, side);
            self.side_street(rng, side);
            self.furniture(rng, side);
            self.parked(rng, side);
        }
        self.end(rng);
        self.traffic(rng);
        self.walkers(rng);
    }

    fn put(&mut self, body: &Body, stand: Stand) {
        self.scene.put(body, stand, "");
    }

    /// Puts what follows the slope of the ground, if there is room.
    fn put_if_free(&mut self, body: &Body, stand: Stand) {
        let [width, length] = body.footprint;
        let (sin, cos) = stand.yaw.sin_cos();
        let reach = (0.5 * (length - width)).max(0.0);
        let is_free = |along: f32| {
            self.scene.is_free(stand.at.x + along * sin, stand.at.z + along * cos, 0.5 * width + 0.15)
        };
        if [-reach, 0.0, reach].into_iter().all(is_free) {
            self.put(body, self.ground.lying(stand));
        }
    }

    /// Distance of the first wall from the middle of the road.
    fn edge(&self) -> f32 {
        self.ground.half_road + self.ground.sidewalk + 0.3
    }

    /// Houses, gardens and their walls on one side.
    fn lots(&mut self, rng: &mut Rng, side: f32) {
        let mut z = between(rng, -8.0, 2.0);
        while z < FAR_M {
            // Where the road bends houses are narrow, so that their corners stay behind the sidewalk.
            let widest = (5.0 / self.ground.bend(z + 8.0, 10.0).max(1e-3)).sqrt().clamp(9.0, 22.0);
            let width = between(rng, 8.0, widest);
            let gap = self.ground.sidewalk + 0.4;
            if let Some(junction) = self.ground.junction.filter(|j| j.opens(side)) {
                let [start, end] = [junction.span[0] - gap, junction.span[1] + gap];
                if z < end && z + width > start {
                    if start - z > 6.0 {
                        self.lot(rng, side, z, start - z);
                    }
                    z = end;
                    continue;
                }
            }
            self.lot(rng, side, z, width);
            z += width;
        }
    }

    fn lot(&mut self, rng: &mut Rng, side: f32, z: f32, width: f32) {
        let (town, middle) = (self.town, z + 0.5 * width);
        if chance(rng, town.open[0]) {
            self.garden(rng, side, middle, width);
        } else {
            let depth = between(rng, 8.0, 13.0);
            let set_back = between(rng, 0.0, 2.0) * f32::from(town.floors[1] < 5.0);
            let filled = width * between(rng, 0.88, 1.0);
            let body = houses::building(rng, town, filled, depth);
            let lateral = side * (self.edge() + set_back + 0.5 * depth);
            self.put(&body, self.ground.beside(lateral, middle, 0.0));
        }
        if chance(rng, town.open[1]) {
            let body = houses::enclosure(rng, 0.95 * width);
            self.put(&body, self.ground.beside(side * (self.edge() - 0.2), middle, 0.0));
        }
    }

    fn garden(&mut self, rng: &mut Rng, side: f32, z: f32, width: f32) {
        for _ in 0..3 + rng.below(4) {
            let body = self.plant(rng);
            let lateral = side * (self.edge() + between(rng, 1.2, 12.0));
            let at = z + between(rng, -0.45, 0.45) * width;
            let turn = if body.footprint[1] > 2.0 { 0.0 } else { between(rng, 0.0, 6.0) };
            self.put(&body, self.ground.beside(lateral, at, turn));
        }
    }

    fn plant(&self, rng: &mut Rng) -> Body {
        if chance(rng, 0.5) {
            plants::tree(rng, self.town, self.season)
        } else {
            plants::bush(rng, self.town, self.season)
        }
    }

    /// Houses along a side street, of which the far row is seen, and cars that wait there or come out of it.
    fn side_street(&mut self, rng: &mut Rng, side: f32) {
        let Some(junction) = self.ground.junction.filter(|j| j.opens(side)) else { return };
        let [start, end] = junction.span;
        let middle = self.ground.beside(0.0, junction.middle(), 0.0).at.x;
        let mut out = self.edge() + 13.0;
        while out < 62.0 {
            let (width, depth) = (between(rng, 8.0, 16.0), between(rng, 8.0, 12.0));
            let body = houses::building(rng, self.town, 0.96 * width, depth);
            let z = end + self.ground.sidewalk + 0.4 + 0.5 * depth;
            self.put(&body, self.ground.upright(middle + side * (out + 0.5 * width), z, FRAC_PI_2));
            out += width;
        }
        let mut out = self.ground.half_road + if chance(rng, 0.25) { -3.0 } else { 3.6 };
        while out < 40.0 {
            if chance(rng, 0.5) {
                let body = vehicles::car(rng);
                // Toward the road, on the right.
                let z = junction.middle() + 0.25 * side * (end - start);
                let stand = self.ground.upright(middle + side * (out + 2.4), z, -side * FRAC_PI_2);
                self.put_if_free(&body, stand);
            }
            out += between(rng, 5.5, 12.0);
        }
    }

    /// Trees, lamps, signs and lights on the sidewalk.
    fn furniture(&mut self, rng: &mut Rng, side: f32) {
        let lane = side * (self.ground.half_road + 0.5);
        let mut z = between(rng, 5.0, 12.0);
        while z < FAR_M {
            let body = match rng.uniform() as f32 {
                u if u < 0.07 * self.town.trees => plants::tree(rng, self.town, self.season),
                u if u < 0.7 => poles::lamp(rng, -side),
                u if u < 0.78 => cycles::bicycle(rng),
                u if u < 0.8 => cycles::motorcycle(rng),
                u if u < 0.93 => poles::sign(rng),
                _ => poles::bollard(rng),
            };
            if !self.ground.crosses(side, z, 2.0) {
                self.put(&body, self.ground.beside(lane, z, 0.0));
            }
            z += between(rng, 5.0, 17.0);
        }
        if let Some(junction) = self.ground.junction {
            let body = if chance(rng, 0.6) { poles::traffic_light(rng) } else { poles::sign(rng) };
            self.put(&body, self.ground.beside(lane, junction.span[0] - 2.8, 0.0));
        }
    }

    fn parked(&mut self, rng: &mut Rng, side: f32) {
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

    /// What closes the view: trees and houses far away.
    fn end(&mut self, rng: &mut Rng) {
        for i in -7..=7 {
            let (lateral, z) = (11.0 * i as f32 + between(rng, -3.0, 3.0), FAR_M + between(rng, 5.0, 60.0));
            let is_tree = chance(rng, 0.55);
            let body = if is_tree {
                plants::tree(rng, self.town, self.season)
            } else {
                houses::building(rng, self.town, 14.0, 12.0)
            };
            self.put(&body, Stand { size: 1.4, ..self.ground.beside(lateral, z, 0.0) });
        }
    }

    /// Vehicles that drive, in both directions.
    fn traffic(&mut self, rng: &mut Rng) {
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
    fn walkers(&mut self, rng: &mut Rng) {
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
