//! Houses: fronts with windows, shops and doors, balconies, eaves, roofs; walls and fences.

use super::{between, chance, pick, shade, varied};
use crate::body::{Body, Part, block, hull, part, post};
use crate::class::Class;
use crate::facade::{Courses, Facade, Front};
use crate::hull::Lean;
use crate::material::Material;
use crate::solid::Shape;
use crate::town::Town;
use offnominal_core::Rng;
use offnominal_core::vec3::{Vec3, vec3};

/// How far a house reaches under the ground at its middle, so that it stands on a slope.
const CELLAR_M: f32 = 1.5;

const AWNINGS: [[f32; 3]; 4] = [[0.3, 0.06, 0.05], [0.05, 0.16, 0.1], [0.5, 0.46, 0.38], [0.06, 0.1, 0.22]];

/// A house of a width along the street and a depth, whose front and back are alike.
struct House {
    width: f32,
    depth: f32,
    storey: f32,
    height: f32,
    upper: Facade,
}

impl House {
    fn draw(rng: &mut Rng, town: &Town, width: f32, depth: f32) -> House {
        let storey = between(rng, 2.9, 3.5);
        let storeys = between(rng, town.floors[0], town.floors[1]).round().max(1.0);
        let wall = shade(rng, &town.walls, 0.25);
        let is_office = storeys > 4.5 && chance(rng, 0.5);
        let front = match rng.below(3) {
            _ if is_office => Front::Ribbons,
            0 => {
                Front::Shutters(shade(rng, &[[0.06, 0.12, 0.08], [0.12, 0.07, 0.04], [0.1, 0.14, 0.2]], 0.3))
            }
            _ => Front::Windows,
        };
        let courses = if is_office {
            Courses::Panels
        } else {
            pick(rng, &[Courses::Plaster, Courses::Plaster, Courses::Brick, Courses::Brick, Courses::Siding])
        };
        let upper = Facade {
            wall,
            trim: shade(rng, &[[0.62, 0.6, 0.56], [0.5, 0.46, 0.4], [0.2, 0.2, 0.21]], 0.2),
            glass: varied(rng, [0.035, 0.045, 0.055], 0.4),
            bay: between(rng, town.bays[0], town.bays[1]),
            storeys: storeys - 1.0,
            window: [between(rng, 0.36, 0.56), between(rng, 0.42, 0.56)],
            courses,
            front,
        };
        House { width, depth, storey, height: storeys * storey, upper }
    }

    /// Everything above the ground floor.
    fn storeys(&self) -> Option<Part> {
        let rest = self.height - self.storey;
        (rest > 0.5).then(|| {
            block([0.0, self.storey, 0.0], [self.depth, rest, self.width], Material::Facade(self.upper))
        })
    }

    /// The ground floor, with a plinth that reaches into the ground.
    fn ground_floor(&self, rng: &mut Rng, has_shop: bool) -> Vec<Part> {
        let wall = if has_shop { varied(rng, self.upper.wall * 0.7, 0.3) } else { self.upper.wall };
        let front = if has_shop {
            Front::Shop(shade(rng, &AWNINGS, 0.4))
        } else {
            Front::Door(shade(rng, &[[0.1, 0.05, 0.03], [0.03, 0.08, 0.06], [0.14, 0.03, 0.03]], 0.3))
        };
        let bay = if has_shop { between(rng, 3.2, 4.6) } else { self.upper.bay };
        let facade = Facade { wall, front, bay, storeys: 1.0, ..self.upper };
        let plinth = Material::Mottled(self.upper.wall * 0.5, 0.15, 2.0);
        let out = 0.12;
        vec![
            block([0.0, 0.0, 0.0], [self.depth + out, self.storey, self.width], Material::Facade(facade)),
            block(
                [0.0, -CELLAR_M, 0.0],
                [self.depth + 2.0 * out, CELLAR_M + 0.35, self.width + 0.04],
                plinth,
            ),
        ]
    }

    fn eaves(&self, colour: Vec3, out: f32, thick: f32) -> Part {
        block(
            [0.0, self.height - 0.5 * thick, 0.0],
            [self.depth + out, thick, self.width + 0.06],
            Material::Plain(colour),
        )
    }

    /// A roof whose ridge runs along the street, with dormers and a chimney.
    fn pitched_roof(&self, rng: &mut Rng, town: &Town) -> Vec<Part> {
        let tile = shade(rng, &town.roofs, 0.3);
        let rise = between(rng, 0.25, 0.4) * self.depth;
        let size = [self.depth + 0.7, rise, self.width + 0.1];
        let roof = Material::Tiles(tile, self.upper.wall);
        let mut parts = vec![
            hull([0.0, self.height, 0.0], size, Lean::sides(0.49), roof),
            self.eaves(self.upper.trim * 0.8, 0.5, 0.12),
        ];
        let chimney = Material::Mottled(vec3(0.16, 0.08, 0.06), 0.2, 3.0);
        let z = between(rng, -0.35, 0.35) * self.width;
        parts.push(block(
            [0.1 * self.depth, self.height + 0.5 * rise, z],
            [0.7, 0.5 * rise + 1.0, 0.9],
            chimney,
        ));
        if chance(rng, 0.4) {
            let windows = Facade { bay: 3.0, storeys: 1.0, front: Front::Windows, ..self.upper };
            for side in [-0.25, 0.25] {
                let (x, y, z) = (0.3 * self.depth, self.height + 0.15 * rise, side * self.width);
                for x in [-x, x] {
                    parts.push(block([x, y, z], [0.2 * self.depth, 1.5, 1.5], Material::Facade(windows)));
                    parts.push(hull(
                        [x, y + 1.5, z],
                        [0.22 * self.depth, 0.4, 1.7],
                        Lean { side: 0.0, front: 0.4, back: 0.4 },
                        Material::Plain(tile),
                    ));
                }
            }
        }
        parts
    }

    /// A flat roof behind a parapet, with what stands on it.
    fn flat_roof(&self, rng: &mut Rng) -> Vec<Part> {
        let wall = self.upper.wall;
        let mut parts = vec![
            self.eaves(wall.lerp(self.upper.trim, 0.5), 0.2, 0.16),
            block(
                [0.0, self.height, 0.0],
                [self.depth, between(rng, 0.3, 0.8), self.width],
                Material::Plain(wall * 0.92),
            ),
        ];
        if chance(rng, 0.5) {
            let (z, size) = (between(rng, -0.3, 0.3) * self.width, between(rng, 2.0, 3.5));
            let hut = Material::Mottled(wall * 0.8, 0.1, 1.0);
            parts.push(block([0.1 * self.depth, self.height, z], [size, between(rng, 1.4, 2.4), size], hut));
            parts.push(post(
                [-0.2 * self.depth, self.height, z + 1.5],
                0.08,
                between(rng, 2.0, 4.0),
                Material::Plain(Vec3::all(0.2)),
            ));
        }
        parts
    }

    /// Balconies in a column, on the front and on the back.
    fn balconies(&self, rng: &mut Rng) -> Vec<Part> {
        let bays = (self.width / self.upper.bay).round().max(1.0);
        let bay = rng.below(bays as usize) as f32;
        let z = ((bay + 0.5) / bays - 0.5) * self.width;
        let wide = 0.9 * self.width / bays;
        let rail = Material::Bars(Vec3::all(0.03), 7.0);
        let slab = Material::Plain(self.upper.trim * 0.8);
        let storeys = 1..(self.height / self.storey).round() as usize;
        storeys
            .flat_map(|storey| {
                let y = storey as f32 * self.storey + 0.1;
                [-1.0, 1.0].into_iter().flat_map(move |side| {
                    let x = side * (0.5 * self.depth + 0.5);
                    [
                        block([x, y, z], [1.0, 0.14, wide], slab),
                        block([x + side * 0.46, y + 0.14, z], [0.05, 0.95, wide], rail),
                    ]
                })
            })
            .collect()
    }

    /// Awnings over shop windows, on the front and on the back.
    fn awnings(&self, rng: &mut Rng) -> Vec<Part> {
        let colour = shade(rng, &AWNINGS, 0.3);
        let cloth = Material::Bands(colour, if chance(rng, 0.5) { Vec3::all(0.5) } else { colour }, 0.4, 2);
        let (z, wide) = (between(rng, -0.2, 0.2) * self.width, between(rng, 0.3, 0.55) * self.width);
        let slope = |side: f32| {
            let x = side * (0.5 * self.depth + 0.65);
            part(Shape::Box, [x, 0.72 * self.storey, z], [1.3, 0.06, wide], cloth).tilted(0.0, -0.35 * side)
        };
        vec![slope(-1.0), slope(1.0)]
    }
}

/// A house of a width along the street and a depth.
pub fn building(rng: &mut Rng, town: &Town, width: f32, depth: f32) -> Body {
    let house = House::draw(rng, town, width, depth);
    let has_shop = house.height > 5.0 && chance(rng, town.shops);
    let mut parts: Vec<Part> = house.storeys().into_iter().collect();
    parts.extend(house.ground_floor(rng, has_shop));
    let roof = if chance(rng, town.gables) { house.pitched_roof(rng, town) } else { house.flat_roof(rng) };
    parts.extend(roof);
    if house.upper.front != Front::Ribbons && chance(rng, 0.35) {
        parts.extend(house.balconies(rng));
    }
    if has_shop && chance(rng, 0.5) {
        parts.extend(house.awnings(rng));
    }
    Body { class: Class::Building, parts, footprint: [depth, width] }
}

/// A wall or a fence along a lot.
pub fn enclosure(rng: &mut Rng, length: f32) -> Body {
    let height = between(rng, 1.0, 2.2);
    if chance(rng, 0.5) {
        let stones = shade(rng, &[[0.2, 0.09, 0.06], [0.3, 0.29, 0.26], [0.22, 0.2, 0.17]], 0.3);
        let bricks = Facade {
            wall: stones,
            trim: stones,
            glass: stones,
            bay: 1.0,
            storeys: 1.0,
            window: [0.0; 2],
            courses: Courses::Brick,
            front: Front::Windows,
        };
        let parts = vec![
            block([0.0, -CELLAR_M, 0.0], [0.3, height + CELLAR_M, length], Material::Facade(bricks)),
            block([0.0, height, 0.0], [0.38, 0.08, length], Material::Plain(stones * 0.9)),
        ];
        return Body { class: Class::Wall, parts, footprint: [0.3, length] };
    }
    let bars = shade(rng, &[[0.03, 0.035, 0.03], [0.16, 0.11, 0.07], [0.3, 0.3, 0.3]], 0.3);
    let part =
        block([0.0, -0.6, 0.0], [0.08, height + 0.6, length], Material::Bars(bars, between(rng, 2.0, 5.0)));
    Body { class: Class::Fence, parts: vec![part], footprint: [0.1, length] }
}
