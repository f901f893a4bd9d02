//! How much of the sun and of the open sky each visible point sees.

use super::camera::{Camera, Rays};
use super::footprint;
use super::solid::Solid;
use super::surface::{NOTHING, Surfaces, refill};
use offnominal_core::vec3::{Vec3, vec3};

/// Solids darken their surroundings up to this many core radii away.
const REACH: f32 = 4.0;

/// The largest share of the open sky that one solid hides.
const STRENGTH: f32 = 0.7;

/// One entry per pixel, row by row; 1 where nothing is in the way.
#[derive(Debug, Default)]
pub struct Shadows {
    pub sun: Vec<f32>,
    pub sky: Vec<f32>,
}

impl Shadows {
    /// Looks from every visible point towards the sun (a unit vector) and to the solids around it.
    pub fn cast(&mut self, camera: &Camera, rays: &Rays, solids: &[Solid], seen: &Surfaces, to_sun: Vec3) {
        refill(&mut self.sun, seen.depth.len(), 1.0);
        refill(&mut self.sky, seen.depth.len(), 1.0);
        let bounds = Bounds::of(solids);
        for (index, solid) in solids.iter().enumerate().filter(|(_, s)| !s.is_plane()) {
            let sweep = -to_sun * bounds.shadow_length(solids, solid, to_sun);
            self.hide_sun(camera, (index as u32, solid), seen, to_sun, sweep);
            self.hide_sky(camera, rays, (index as u32, solid), seen);
        }
    }

    fn hide_sun(
        &mut self,
        camera: &Camera,
        (index, solid): (u32, &Solid),
        seen: &Surfaces,
        to_sun: Vec3,
        sweep: Vec3,
    ) {
        let to_sun_local = solid.local_from_world(to_sun);
        footprint::of_sweep(camera, solid, sweep).visit(seen.width, |column, row, at| {
            // Solids are convex: none throws a shadow on its own sunny side.
            let is_own = seen.solid[at] == NOTHING || seen.solid[at] == index;
            if is_own || self.sun[at] == 0.0 || seen.normal[at].dot(to_sun) <= 0.0 {
                return;
            }
            let entry = solid.entry(solid.rays.point(column, row, seen.depth[at]), to_sun_local);
            if entry > 0.0 && entry < f32::INFINITY {
                self.sun[at] *= 1.0 - solid.opacity;
            }
        });
    }

    fn hide_sky(&mut self, camera: &Camera, rays: &Rays, (index, solid): (u32, &Solid), seen: &Surfaces) {
        let core = Core::of(solid);
        footprint::of_surroundings(camera, solid, REACH).visit(seen.width, |column, row, at| {
            if seen.solid[at] != NOTHING && seen.solid[at] != index {
                let point = rays.point(column, row, seen.depth[at]);
                self.sky[at] *= 1.0 - STRENGTH * solid.opacity * core.hides(point, seen.normal[at]);
            }
        });
    }
}

/// A thick segment inside a solid.
struct Core {
    centre: Vec3,
    half: Vec3,
    per_length: f32,
    radius_squared: f32,
}

impl Core {
    fn of(solid: &Solid) -> Core {
        let (half, radius) = solid.core();
        let per_length = 1.0 / half.dot(half).max(1e-12);
        Core { centre: solid.centre, half, per_length, radius_squared: radius * radius }
    }

    /// The share of a point's sky hidden by a ball around the nearest point of the segment: cos θ (r/d)², lowered so
    /// that it ends softly at [`REACH`].
    fn hides(&self, point: Vec3, normal: Vec3) -> f32 {
        let offset = point - self.centre;
        let along = (offset.dot(self.half) * self.per_length).clamp(-1.0, 1.0);
        let to_ball = self.half * along - offset;
        let distance_squared = to_ball.dot(to_ball);
        let facing = normal.dot(to_ball);
        if facing <= 0.0 || distance_squared > REACH * REACH * self.radius_squared {
            return 0.0;
        }
        let share = (self.radius_squared / distance_squared).min(1.0) - 1.0 / (REACH * REACH);
        facing / distance_squared.sqrt() * share
    }
}

/// A ball around everything but the planes.
struct Bounds {
    centre: Vec3,
    radius: f32,
}

impl Bounds {
    fn of(solids: &[Solid]) -> Bounds {
        let bodies = || solids.iter().filter(|s| !s.is_plane());
        let n = bodies().count().max(1) as f32;
        let centre = bodies().fold(Vec3::default(), |sum, s| sum + s.centre) * (1.0 / n);
        let reach = bodies().map(|s| (s.centre - centre).length() + s.radius());
        Bounds { centre, radius: reach.fold(0.0, f32::max) }
    }

    /// The distance after which the shadow of a solid has left the scene: all bodies and all planes it falls on.
    fn shadow_length(&self, solids: &[Solid], solid: &Solid, to_sun: Vec3) -> f32 {
        let past_bodies = (solid.centre - self.centre).dot(to_sun) + solid.radius() + self.radius;
        let planes = solids.iter().filter(|s| s.is_plane());
        planes.fold(past_bodies.max(0.0), |length, plane| {
            let normal = plane.world_from_local(vec3(0.0, 0.0, 1.0));
            let (height, slope) = (normal.dot(solid.centre - plane.centre), normal.dot(to_sun));
            let past_plane = (height + solid.radius()) / slope;
            if slope > 0.0 && past_plane > length { past_plane } else { length }
        })
    }
}
