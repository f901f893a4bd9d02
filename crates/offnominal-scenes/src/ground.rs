//! The ground: a road that bends, sidewalks along it, open land beyond, and a crossing now and then.

use crate::class::Class;
use crate::material::asphalt;
use crate::noise::{fractal, gradient, smooth};
use crate::things::{between, chance};
use crate::town::Town;
use offnominal_core::Rng;
use offnominal_core::vec3::Vec3;

/// The plan of the ground.
#[derive(Debug, Clone, PartialEq)]
pub struct Ground {
    /// The middle of the road is at x = bend z² + shift.
    pub bend: f32,
    /// How far the middle of the road is to the right of the camera; below 0, as traffic keeps right.
    pub shift: f32,
    /// Half the width of the road.
    pub half_road: f32,
    /// Width of a sidewalk.
    pub sidewalk: f32,
    /// First and last z of a side street, if there is one.
    pub crossing: Option<[f32; 2]>,
    colours: [Vec3; 3],
    paint: Vec3,
    lanes: usize,
    zebra: bool,
    /// Which wear, which puddles.
    pub key: u32,
}

/// What is on the ground at a place.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spot {
    /// Its class.
    pub class: Class,
    /// The light it sends back.
    pub colour: Vec3,
    /// Share of it that is a mirror of water.
    pub wet: f32,
}

impl Ground {
    /// Draws a plan for a town.
    pub fn draw(rng: &mut Rng, town: &Town) -> Ground {
        let half_road = between(rng, town.road[0], town.road[1]);
        let start = between(rng, 14.0, 60.0);
        Ground {
            bend: between(rng, -0.0022, 0.0022) * between(rng, 0.0, 1.0),
            shift: -0.5 * half_road + between(rng, -0.6, 0.6),
            half_road,
            sidewalk: between(rng, town.sidewalk[0], town.sidewalk[1]),
            crossing: chance(rng, 0.45).then(|| [start, start + between(rng, 7.0, 11.0)]),
            colours: town.ground,
            paint: town.paint,
            lanes: if half_road > 5.4 { 2 } else { 1 },
            zebra: chance(rng, 0.5),
            key: rng.bits() as u32,
        }
    }

    /// The middle of the road.
    #[inline]
    pub fn centre(&self, z: f32) -> f32 {
        self.bend * z * z + self.shift
    }

    /// The heading of the road.
    pub fn yaw(&self, z: f32) -> f32 {
        (2.0 * self.bend * z).atan()
    }

    /// The colour of the road.
    pub fn road_colour(&self) -> Vec3 {
        self.colours[0]
    }

    /// Whether a place belongs to the side street.
    pub fn crosses(&self, z: f32) -> bool {
        self.crossing.is_some_and(|[a, b]| (a..b).contains(&z))
    }

    /// What is at a place. `puddles` is the share of the road under water.
    pub fn at(&self, x: f32, z: f32, puddles: f32) -> Spot {
        let lateral = x - self.centre(z);
        let beyond = lateral.abs() - self.half_road;
        let crosses = self.crosses(z);
        if beyond < 0.0 || crosses {
            return self.road(lateral, x, z, puddles, crosses);
        }
        let spot = |class, colour| Spot { class, colour, wet: 0.0 };
        let corner = self.crossing.is_some_and(|[a, b]| (a - self.sidewalk..b + self.sidewalk).contains(&z));
        if beyond < self.sidewalk || corner {
            return spot(Class::Sidewalk, self.paving(beyond, x, z));
        }
        let tufts = fractal(1.3 * x, 0.8 * z, 3, self.key) + 0.6 * gradient(6.0 * x, 5.0 * z, self.key);
        spot(Class::Terrain, self.colours[2] * (1.0 + 0.35 * tufts).max(0.2))
    }

    fn road(&self, lateral: f32, x: f32, z: f32, puddles: f32, crosses: bool) -> Spot {
        let mut colour = asphalt(self.colours[0], x, z, self.key);
        if !crosses {
            let worn = 0.75 + 0.5 * gradient(1.2 * x, 0.7 * z, self.key + 7);
            let paint = self.marking(lateral, z) * worn.clamp(0.25, 1.0);
            colour = colour.lerp(self.paint, paint);
            // A gutter along the kerb.
            colour = colour * (1.0 - 0.3 * smooth(-0.35, 0.0, lateral.abs() - self.half_road));
        }
        let crack =
            gradient(0.6 * x + 0.3 * gradient(2.0 * x, 2.0 * z, self.key), 0.25 * z, self.key + 3).abs();
        if crack < 0.012 {
            colour = colour * 0.65;
        }
        let low = fractal(0.45 * x, 0.22 * z, 2, self.key + 5);
        let wet =
            if puddles > 0.0 { 0.2 + 0.75 * smooth(0.0, 0.08, low - 0.55 + 1.4 * puddles) } else { 0.0 };
        Spot { class: Class::Road, colour: if wet > 0.0 { colour * 0.6 } else { colour }, wet }
    }

    /// The share of paint at a place on the road.
    fn marking(&self, lateral: f32, z: f32) -> f32 {
        let line = |at: f32| f32::from((lateral - at).abs() < 0.07);
        let dashes = f32::from(z.rem_euclid(6.0) < 3.0);
        let mut paint = line(0.0) * if self.lanes == 2 { 1.0 } else { dashes };
        if self.lanes == 2 {
            paint = paint.max(line(0.5 * self.half_road) * dashes).max(line(-0.5 * self.half_road) * dashes);
        }
        if let Some([start, end]) = self.crossing {
            let before = (start - z - 1.0).min(z - end - 1.0).max(start - 1.0 - z);
            let near = (start - 4.0..start - 1.0).contains(&z) || (end + 1.0..end + 4.0).contains(&z);
            let stop = before > 3.4 && before < 3.8 && lateral > 0.0;
            if self.zebra && near {
                paint = paint.max(f32::from(lateral.rem_euclid(1.0) < 0.5));
            }
            paint = paint.max(f32::from(stop));
        }
        paint.max(line(self.half_road - 0.25) * 0.8).max(line(0.25 - self.half_road) * 0.8)
    }

    /// Slabs behind a kerb.
    fn paving(&self, beyond: f32, x: f32, z: f32) -> Vec3 {
        if (0.0..0.16).contains(&beyond) {
            return self.colours[1] * 1.25;
        }
        let gap = beyond.rem_euclid(0.6) < 0.03 || z.rem_euclid(0.6) < 0.03;
        let slab = asphalt(self.colours[1], 0.7 * x, 0.7 * z, self.key + 11);
        if gap { slab * 0.72 } else { slab }
    }
}
