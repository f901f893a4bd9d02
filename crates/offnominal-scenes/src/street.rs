//! Draws a street: houses along it, then trees and poles, then traffic and people, then what does not belong there.

use crate::body::Stand;
use crate::ground::Ground;
use crate::scene::{Camera, Floor, Scene};
use crate::things::unknown::{Coat, KINDS};
use crate::things::{between, chance, people, pick, street, varied, vehicles};
use crate::town::Town;
use crate::weather::Weather;
use offnominal_core::Rng;
use offnominal_core::vec3::{Vec3, vec3};
use serde::{Deserialize, Serialize};
use std::f32::consts::PI;

/// How hard the unknown things of streets are to find.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// Large, near, in loud colours.
    Easy,
    /// As such things look.
    #[default]
    Medium,
    /// Smaller, farther, with the texture of the road.
    Hard,
}

impl Level {
    /// Nearest and farthest distance in metres.
    pub fn distances(self) -> (f32, f32) {
        match self {
            Level::Easy => (6.0, 18.0),
            Level::Medium => (5.0, 35.0),
            Level::Hard => (7.0, 45.0),
        }
    }

    /// Size against the usual one.
    pub fn size(self) -> f32 {
        match self {
            Level::Easy => 1.15,
            Level::Medium => 1.0,
            Level::Hard => 0.85,
        }
    }
}

/// How far things stand, in metres.
const FAR_M: f32 = 130.0;

/// A street in a town, without anything unknown.
pub fn street(rng: &mut Rng, town: &Town, weather: Weather) -> Scene {
    let ground = Ground::draw(rng, town);
    let mut scene = Scene {
        camera: Camera {
            height_m: between(rng, 1.2, 1.6),
            pitch: between(rng, -0.05, 0.05),
            focal: between(rng, 0.85, 1.05),
        },
        light: weather.light(rng),
        floor: Floor::Street(Box::new(ground.clone())),
        solids: Vec::new(),
        things: Vec::new(),
        exposure: between(rng, 0.85, 1.15),
        noise: between(rng, 0.5, 3.0),
    };
    for side in [-1.0, 1.0] {
        lots(rng, town, &ground, side, &mut scene);
        furniture(rng, town, &ground, side, &mut scene);
        parked(rng, town, &ground, side, &mut scene);
    }
    end(rng, town, &ground, &mut scene);
    traffic(rng, &ground, &mut scene);
    walkers(rng, &ground, &mut scene);
    scene
}

/// A stand beside the road: metres from its middle, to the right if positive.
fn beside(ground: &Ground, lateral: f32, z: f32, turn: f32) -> Stand {
    Stand::on_ground(ground.centre(z) + lateral, z, ground.yaw(z) + turn)
}

/// Houses, gardens and their walls on one side.
fn lots(rng: &mut Rng, town: &Town, ground: &Ground, side: f32, scene: &mut Scene) {
    let mut z = between(rng, -8.0, 2.0);
    while z < FAR_M {
        let width = between(rng, 9.0, 22.0);
        let middle = z + 0.5 * width;
        let edge = ground.half_road + ground.sidewalk;
        z += width;
        if ground.crossing.is_some_and(|[a, b]| z > a - 3.0 && z - width < b + 3.0) {
            continue;
        }
        if chance(rng, town.open[0]) {
            garden(rng, town, ground, side, middle, width, scene);
        } else {
            let (depth, set_back) =
                (between(rng, 8.0, 14.0), between(rng, 0.0, 2.0) * f32::from(town.floors[1] < 5.0));
            let filled = width * between(rng, 0.85, 1.0);
            let body = street::building(rng, town, filled, depth);
            scene.put(&body, beside(ground, side * (edge + 0.3 + set_back + 0.5 * depth), middle, 0.0), "");
        }
        if chance(rng, town.open[1]) {
            let body = street::enclosure(rng, 0.95 * width);
            scene.put(&body, beside(ground, side * (edge + 0.1), middle, 0.0), "");
        }
    }
}

fn garden(rng: &mut Rng, town: &Town, ground: &Ground, side: f32, z: f32, width: f32, scene: &mut Scene) {
    for _ in 0..3 + rng.below(4) {
        let is_tree = chance(rng, 0.5);
        let body = if is_tree { street::tree(rng, town) } else { street::bush(rng, town) };
        let lateral = side * (ground.half_road + ground.sidewalk + between(rng, 1.5, 12.0));
        let at = z + between(rng, -0.5, 0.5) * width;
        scene.put(&body, beside(ground, lateral, at, between(rng, 0.0, 6.0)), "");
    }
}

/// Trees, lamps, signs and lights on the sidewalk.
fn furniture(rng: &mut Rng, town: &Town, ground: &Ground, side: f32, scene: &mut Scene) {
    let lane = side * (ground.half_road + 0.5);
    let mut z = between(rng, 5.0, 12.0);
    while z < FAR_M {
        let body = match rng.uniform() as f32 {
            u if u < 0.07 * town.trees => street::tree(rng, town),
            u if u < 0.7 => street::lamp(rng, -side),
            u if u < 0.8 => people::bicycle(rng),
            u if u < 0.93 => street::sign(rng),
            _ => street::bollard(rng),
        };
        if !ground.crosses(z) {
            scene.put(&body, beside(ground, lane, z, 0.0), "");
        }
        z += between(rng, 5.0, 17.0);
    }
    if let Some([start, _]) = ground.crossing {
        let body = if chance(rng, 0.6) { street::traffic_light(rng) } else { street::sign(rng) };
        scene.put(&body, beside(ground, lane, start - 0.8, 0.0), "");
    }
}

fn parked(rng: &mut Rng, town: &Town, ground: &Ground, side: f32, scene: &mut Scene) {
    let mut z = between(rng, 4.0, 14.0);
    while z < 0.8 * FAR_M {
        let crosses = (-3..=3).any(|d| ground.crosses(z + d as f32));
        if chance(rng, town.parked) && !crosses {
            let body = if chance(rng, 0.06) { people::bicycle(rng) } else { vehicles::car(rng) };
            let lateral = side * (ground.half_road - 0.5 * body.footprint[0] - 0.25);
            scene.put(
                &body,
                beside(ground, lateral, z, if side < 0.0 { PI } else { 0.0 } + between(rng, -0.04, 0.04)),
                "",
            );
        }
        z += between(rng, 5.4, 8.0);
    }
}

/// What closes the view: trees and houses far away.
fn end(rng: &mut Rng, town: &Town, ground: &Ground, scene: &mut Scene) {
    for i in -7..=7 {
        let (x, z) = (
            ground.centre(FAR_M) + 11.0 * i as f32 + between(rng, -3.0, 3.0),
            FAR_M + between(rng, 5.0, 60.0),
        );
        let body =
            if chance(rng, 0.55) { street::tree(rng, town) } else { street::building(rng, town, 14.0, 12.0) };
        scene.put(&body, Stand { size: 1.4, ..Stand::on_ground(x, z, 0.0) }, "");
    }
}

/// Vehicles that drive, in both directions.
fn traffic(rng: &mut Rng, ground: &Ground, scene: &mut Scene) {
    for (lane, turn) in [(0.45, 0.0), (-0.45, PI)] {
        let mut z = between(rng, if turn == 0.0 { 9.0 } else { 6.0 }, 30.0);
        while z < 0.8 * FAR_M {
            let body = match rng.uniform() {
                u if u < 0.66 => vehicles::car(rng),
                u if u < 0.76 => vehicles::truck(rng),
                u if u < 0.84 => vehicles::bus(rng),
                u if u < 0.87 => vehicles::tram(rng),
                _ => people::cyclist(rng),
            };
            let near_kerb = if body.footprint[0] < 1.0 { 1.35 } else { 1.0 };
            let stand =
                beside(ground, lane * near_kerb * ground.half_road, z, turn + between(rng, -0.05, 0.05));
            let [width, length] = body.footprint;
            if scene.is_free(stand.at.x, z, 0.5 * width + 0.1)
                && scene.is_free(stand.at.x, z + 0.5 * length, 0.5)
            {
                scene.put(&body, stand, "");
            }
            z += body.footprint[1] + between(rng, 6.0, 45.0);
        }
    }
}

fn walkers(rng: &mut Rng, ground: &Ground, scene: &mut Scene) {
    for _ in 0..2 + rng.below(8) {
        let z = 5.0 + 60.0 * between(rng, 0.0, 1.0).powi(2);
        let walk = ground.half_road + between(rng, 0.5, ground.sidewalk.max(0.8));
        let lateral = if chance(rng, 0.12) {
            between(rng, -1.0, 1.0) * ground.half_road
        } else {
            pick(rng, &[-1.0, 1.0]) * walk
        };
        let stand = beside(ground, lateral, z, between(rng, 0.0, 6.3));
        if scene.is_free(stand.at.x, z, 0.4) {
            let body = people::person(rng);
            scene.put(&body, stand, "");
        }
    }
}

/// A known thing in an odd place: a person on the roof of a car. It is no unknown thing.
pub fn oddity(rng: &mut Rng, scene: &mut Scene) {
    let cars =
        scene.things.iter().filter(|t| t.class == crate::class::Class::Car && t.at.z > 6.0 && t.at.z < 40.0);
    let places: Vec<Vec3> = cars.map(|t| t.at).collect();
    if !places.is_empty() {
        let Vec3 { x, z, .. } = pick(rng, &places);
        let body = people::person(rng);
        scene.put(&body, Stand { at: vec3(x, 1.5, z), yaw: between(rng, 0.0, 6.3), size: 1.0 }, "");
    }
}

/// How often a free place is looked for.
const TRIES: usize = 15;

/// Puts unknown things onto the road and beside it.
pub fn unknown(rng: &mut Rng, level: Level, scene: &mut Scene) {
    let Floor::Street(ground) = scene.floor.clone() else { return };
    for _ in 0..1 + rng.below(3) {
        let kind = pick(rng, &KINDS);
        let coat = match level {
            Level::Easy => Coat::Loud,
            Level::Medium => Coat::Natural,
            Level::Hard => Coat::Ground(varied(rng, ground.road_colour(), 0.3)),
        };
        let body = kind.build(rng, coat);
        let radius = 0.4 * level.size() * (body.footprint[0] + body.footprint[1]);
        let mut places = (0..TRIES).map(|_| place(rng, level, &ground));
        if let Some(stand) = places.find(|stand| scene.is_free(stand.at.x, stand.at.z, radius)) {
            scene.put(&body, stand, kind.name);
        }
    }
}

/// A place on the road or, in one of three, up to the outer edge of a sidewalk. Distances are such that an octave of
/// them is as likely as any other.
fn place(rng: &mut Rng, level: Level, ground: &Ground) -> Stand {
    let (near, far) = level.distances();
    let z = near * (far / near).powf(between(rng, 0.0, 1.0));
    let reach = ground.half_road + if chance(rng, 0.35) { ground.sidewalk } else { -0.3 };
    let stand = beside(ground, between(rng, -1.0, 1.0) * reach, z, between(rng, 0.0, 6.3));
    Stand { size: level.size(), ..stand }
}

/// Vehicles for the three-wheeler analogue: a few of them among cars.
pub fn three_wheelers(rng: &mut Rng, scene: &mut Scene) {
    let Floor::Street(ground) = scene.floor.clone() else { return };
    for _ in 0..2 + rng.below(3) {
        let z = 7.0 * 6.0_f32.powf(between(rng, 0.0, 1.0));
        let (lane, turn) = pick(rng, &[(0.45, 0.0), (-0.45, PI), (0.8, 0.0)]);
        let stand = beside(&ground, lane * ground.half_road, z, turn + between(rng, -0.2, 0.2));
        if scene.is_free(stand.at.x, z, 1.3) {
            let body = vehicles::three_wheeler(rng);
            scene.put(&body, stand, "three-wheeler");
        }
    }
}
