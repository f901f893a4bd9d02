//! The ground: a road that bends and climbs, sidewalks along it, open land beyond, and a junction now and then.

use crate::alignment::Alignment;
use crate::body::Stand;
use crate::class::Class;
use crate::junction::{Junction, is_rounded};
use crate::material::asphalt;
use crate::noise::{fractal, gradient, smooth, speck};
use crate::things::{between, chance};
use crate::town::Town;
use offnominal_core::Rng;
use offnominal_core::vec3::{Vec3, vec3};

/// The plan of the ground.
#[derive(Debug, Clone, PartialEq)]
pub struct Ground {
    /// Where the middle of the road is, seen from above.
    plan: Alignment,
    /// How high the ground is.
    profile: Alignment,
    /// Half the width of the road.
    pub half_road: f32,
    /// Width of a sidewalk.
    pub sidewalk: f32,
    /// A side street, if there is one.
    pub junction: Option<Junction>,
    colours: [Vec3; 3],
    paint: Vec3,
    lanes: usize,
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
        let shift = -0.5 * half_road + between(rng, -0.6, 0.6);
        let junction = chance(rng, 0.5).then(|| Junction::draw(rng));
        Ground {
            plan: Alignment::plan(rng, shift, junction.map_or(0.0, |j| j.span[1] + 3.0)),
            profile: Alignment::profile(rng),
            half_road,
            sidewalk: between(rng, town.sidewalk[0], town.sidewalk[1]),
            junction,
            colours: town.ground,
            paint: town.paint,
            lanes: if half_road > 5.4 { 2 } else { 1 },
            key: rng.bits() as u32,
        }
    }

    /// A level straight road, for tests.
    #[cfg(test)]
    pub fn flat(town: &Town) -> Ground {
        let level = Alignment::default();
        Ground { plan: level, profile: level, junction: None, ..Ground::draw(&mut Rng::new(0), town) }
    }

    /// The course of the road seen from the side.
    pub fn profile(&self) -> &Alignment {
        &self.profile
    }

    /// Height of the ground.
    #[inline]
    pub fn height(&self, z: f32) -> f32 {
        self.profile.at(z)
    }

    /// The upward normal of the ground.
    #[inline]
    pub fn normal(&self, z: f32) -> Vec3 {
        vec3(0.0, 1.0, -self.profile.slope(z)).unit()
    }

    /// The heading of the road.
    pub fn yaw(&self, z: f32) -> f32 {
        self.plan.slope(z).atan()
    }

    /// The stronger of the bends seen from above around a place, in 1/m.
    pub fn bend(&self, z: f32, reach: f32) -> f32 {
        (self.plan.slope(z + reach) - self.plan.slope(z - reach)).abs() / (2.0 * reach)
    }

    /// How far a place is to the right of the middle of the road.
    #[inline]
    pub fn lateral(&self, x: f32, z: f32) -> f32 {
        let slope = self.plan.slope(z);
        (x - self.plan.at(z)) / (1.0 + slope * slope).sqrt()
    }

    /// The colour of the road.
    pub fn road_colour(&self) -> Vec3 {
        self.colours[0]
    }

    /// Whether a place on a side, −1 or 1, of the road belongs to a side street, or is nearer to it than a margin.
    pub fn crosses(&self, side: f32, z: f32, margin: f32) -> bool {
        self.junction.is_some_and(|j| j.opens(side) && j.beyond(z) < margin)
    }

    /// A place beside the road: metres from its middle, to the right if positive, upright and turned against the road.
    pub fn beside(&self, lateral: f32, z: f32, turn: f32) -> Stand {
        let yaw = self.yaw(z);
        let (sin, cos) = yaw.sin_cos();
        let (x, z) = (self.plan.at(z) + lateral * cos, z - lateral * sin);
        self.upright(x, z, yaw + turn)
    }

    /// A place on the ground for what stands upright.
    pub fn upright(&self, x: f32, z: f32, yaw: f32) -> Stand {
        Stand { at: vec3(x, self.height(z), z), ..Stand::level(x, z, yaw) }
    }

    /// The same place for what lies on the ground with all its length.
    pub fn lying(&self, stand: Stand) -> Stand {
        Stand { rise: self.profile.slope(stand.at.z), ..stand }
    }

    /// What is at a place. `puddles` is the share of the road under water.
    pub fn at(&self, x: f32, z: f32, puddles: f32) -> Spot {
        let lateral = self.lateral(x, z);
        let beyond = lateral.abs() - self.half_road;
        let aside = self.junction.filter(|j| j.opens(lateral)).map(|j| j.beyond(z));
        let in_side_street = aside.is_some_and(|d| d < 0.0 || is_rounded(beyond, d));
        if beyond < 0.0 || in_side_street {
            return self.road(lateral, x, z, puddles);
        }
        let spot = |class, colour| Spot { class, colour, wet: 0.0 };
        let walk = aside.map_or(beyond, |d| beyond.min(d));
        if walk < self.sidewalk {
            let mut paved = spot(Class::Sidewalk, self.paving(walk, x, z));
            paved.wet = if puddles > 0.0 { 0.35 } else { 0.0 };
            return paved;
        }
        let tufts = fractal(1.3 * x, 0.8 * z, 3, self.key) + 0.6 * gradient(6.0 * x, 5.0 * z, self.key);
        spot(Class::Terrain, self.colours[2] * (1.0 + 0.35 * tufts).max(0.2))
    }

    fn road(&self, lateral: f32, x: f32, z: f32, puddles: f32) -> Spot {
        let mut colour = self.surface(x, z);
        let worn = 0.75 + 0.5 * gradient(1.2 * x, 0.7 * z, self.key + 7);
        colour = colour.lerp(self.paint, self.marking(lateral, z) * worn.clamp(0.25, 1.0));
        if !self.crosses(lateral, z, 0.0) {
            // A gutter along the kerb.
            colour = colour * (1.0 - 0.3 * smooth(-0.35, 0.0, lateral.abs() - self.half_road));
        }
        if puddles == 0.0 {
            return Spot { class: Class::Road, colour, wet: 0.0 };
        }
        let low = fractal(0.45 * x, 0.22 * z, 2, self.key + 5);
        let wet = 0.25 + 0.7 * smooth(0.0, 0.08, low - 0.55 + 1.4 * puddles);
        Spot { class: Class::Road, colour: colour * 0.6, wet }
    }

    /// Asphalt with patches where it was opened, manholes and cracks.
    fn surface(&self, x: f32, z: f32) -> Vec3 {
        let colour = asphalt(self.colours[0], x, z, self.key);
        let (u, v) = (x / 2.6, z / 7.0);
        let which = speck(u.floor() as i32, v.floor() as i32, self.key + 21);
        let (du, dv) = (u - u.floor(), v - v.floor());
        if which < 0.06 && (0.2..0.75).contains(&du) && (0.1..0.7).contains(&dv) {
            return colour * 0.78;
        }
        if which > 0.95 && (2.6 * (du - 0.5)).hypot(7.0 * (dv - 0.5)) < 0.33 {
            return colour * 0.5;
        }
        let bent = 0.3 * gradient(2.0 * x, 2.0 * z, self.key);
        let crack = gradient(0.6 * x + bent, 0.25 * z, self.key + 3).abs();
        // Roads are cracked here and there.
        let worn = 0.02 * gradient(0.11 * x, 0.07 * z, self.key + 17);
        if crack < worn { colour * 0.7 } else { colour }
    }

    /// The share of paint at a place on the road.
    fn marking(&self, lateral: f32, z: f32) -> f32 {
        let line = |at: f32| f32::from((lateral - at).abs() < 0.07);
        if let Some(paint) = self.junction.and_then(|j| j.marking(lateral, z, self.half_road)) {
            return paint;
        }
        let dashes = f32::from(z.rem_euclid(6.0) < 3.0);
        let edge = line(self.half_road - 0.25).max(line(0.25 - self.half_road)) * 0.8;
        if self.lanes == 1 {
            return edge.max(line(0.0) * dashes);
        }
        let lanes = line(0.5 * self.half_road).max(line(-0.5 * self.half_road)) * dashes;
        edge.max(lanes).max(line(0.0))
    }

    /// Slabs behind a kerb.
    fn paving(&self, beyond: f32, x: f32, z: f32) -> Vec3 {
        if beyond < 0.16 {
            return self.colours[1] * 1.25;
        }
        let gap = beyond.rem_euclid(0.6) < 0.03 || z.rem_euclid(0.6) < 0.03;
        let slab = asphalt(self.colours[1], 0.7 * x, 0.7 * z, self.key + 11);
        if gap { slab * 0.72 } else { slab }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_beside_the_road_is_as_far_from_it_as_said() {
        for seed in 0..20 {
            let ground = Ground::draw(&mut Rng::new(seed), &Town::default());
            for z in [0.0, 20.0, 45.0, 80.0] {
                for lateral in [-3.0, 2.0] {
                    let at = ground.beside(lateral, z, 0.0).at;
                    assert!((ground.lateral(at.x, at.z) - lateral).abs() < 0.15, "{seed} {z} {lateral}");
                    assert_eq!(at.y, ground.height(at.z));
                }
            }
        }
    }

    #[test]
    fn roads_bend_climb_and_meet_others() {
        let grounds: Vec<Ground> =
            (0..100).map(|seed| Ground::draw(&mut Rng::new(seed), &Town::default())).collect();
        let share = |is: &dyn Fn(&&Ground) -> bool| grounds.iter().filter(is).count();
        let (curved, hilly) =
            (|g: &&Ground| g.yaw(60.0).abs() > 0.1, |g: &&Ground| g.height(60.0).abs() > 0.5);
        assert!((30..80).contains(&share(&curved)) && (30..70).contains(&share(&hilly)));
        assert!((30..70).contains(&share(&|g| g.junction.is_some())));
    }

    #[test]
    fn a_side_street_is_road_beside_the_road() {
        let ground = (0..).map(|seed| Ground::draw(&mut Rng::new(seed), &Town::default()));
        let ground = ground.into_iter().find(|g| g.junction.is_some_and(|j| j.opens(1.0))).unwrap();
        let middle = ground.junction.unwrap().middle();
        let class = |lateral: f32, z: f32| {
            let at = ground.beside(lateral, z, 0.0).at;
            ground.at(at.x, at.z, 0.0).class
        };
        assert_eq!(class(ground.half_road + 1.0, middle - 14.0), Class::Sidewalk);
        let across = ground.beside(ground.half_road, middle, 0.0).at.x + 9.0;
        assert_eq!(ground.at(across, middle, 0.0).class, Class::Road);
    }
}
