//! Draws a street: houses along it, then trees and poles; traffic and people come last.

use crate::body::{Body, Stand};
use crate::ground::Ground;
use crate::scene::{Camera, Floor, Scene};
use crate::things::plants::Season;
use crate::things::{between, chance, cycles, houses, plants, poles, vehicles};
use crate::town::Town;
use crate::weather::Weather;
use offnominal_core::Rng;
use std::f32::consts::FRAC_PI_2;

/// How far things stand, in metres.
pub const FAR_M: f32 = 130.0;

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
pub struct Layout<'a> {
    /// How houses and trees look.
    pub town: &'a Town,
    /// Where the road is.
    pub ground: &'a Ground,
    /// How trees look.
    pub season: Season,
    /// What has been placed.
    pub scene: &'a mut Scene,
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

    /// Puts what stands upright.
    pub fn put(&mut self, body: &Body, stand: Stand) {
        self.scene.put(body, stand, "");
    }

    /// Puts what follows the slope of the ground, if there is room.
    pub fn put_if_free(&mut self, body: &Body, stand: Stand) {
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
}
