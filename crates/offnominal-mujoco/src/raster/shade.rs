//! From surfaces and shadows to colours, in linear light.

use super::camera::{Camera, Rays};
use super::floor;
use super::footprint::{self, Rect};
use super::scene::{Light, Scene, Sky};
use super::shadow::Shadows;
use super::solid::{Solid, linear};
use super::surface::Surfaces;
use offnominal_core::vec3::{Vec3, vec3};

/// A little warmer than white.
const SUN_TINT: Vec3 = vec3(1.04, 1.0, 0.92);

/// A little cooler than white: light from above.
const SKY_TINT: Vec3 = vec3(0.95, 1.0, 1.07);

/// Light from below, thrown back by the ground.
const GROUND_TINT: Vec3 = vec3(0.58, 0.55, 0.52);

/// Light and sky in the form in which pixels need them.
pub struct Shader {
    pub to_sun: Vec3,
    light: Light,
    horizon: Vec3,
    zenith: Vec3,
    haze_per_m: f32,
}

/// A point to be coloured.
struct Spot {
    point: Vec3,
    normal: Vec3,
    albedo: Vec3,
    gloss: f32,
    sun: f32,
    sky: f32,
}

impl Shader {
    /// The shader of a scene whose sun is moved by a small angle (sideways, upwards).
    pub fn new(scene: &Scene, sun_spot: (f32, f32)) -> Shader {
        let Sky { horizon, zenith, haze_m } = scene.sky;
        let towards = -Vec3::from(scene.light.direction).unit();
        let side = towards.cross(vec3(0.3, 0.5, 0.8)).unit();
        let to_sun = (towards + side * sun_spot.0 + towards.cross(side) * sun_spot.1).unit();
        Shader {
            to_sun,
            light: scene.light,
            horizon: linear(horizon),
            zenith: linear(zenith),
            haze_per_m: if haze_m > 0.0 { 1.0 / haze_m } else { 0.0 },
        }
    }

    /// Adds the colours of the opaque solids and of the sky.
    pub fn add_opaque(
        &self,
        camera: &Camera,
        rays: &Rays,
        solids: &[Solid],
        seen: &Surfaces,
        shadows: &Shadows,
        colour: &mut [Vec3],
    ) {
        Rect::whole(camera).visit(seen.width, |column, row, at| {
            let direction = rays.direction(column, row);
            colour[at] = match solids.get(seen.solid[at] as usize) {
                None => self.sky(direction),
                Some(solid) => self.lit(&Spot {
                    point: direction * seen.depth[at],
                    normal: seen.normal[at],
                    albedo: albedo(solid, column, row, seen.depth[at]),
                    gloss: if solid.is_plane() { 0.0 } else { self.light.specular },
                    sun: shadows.sun[at],
                    sky: shadows.sky[at],
                }),
            };
        });
    }

    /// Lays one translucent solid over the colours so far.
    pub fn blend(&self, camera: &Camera, rays: &Rays, solid: &Solid, seen: &Surfaces, colour: &mut [Vec3]) {
        footprint::of_solid(camera, solid).visit(seen.width, |column, row, at| {
            let depth = solid.depth(column, row);
            if depth > camera.near && depth < seen.depth[at] {
                let normal = solid.normal(column, row, depth);
                let albedo = albedo(solid, column, row, depth);
                let gloss = if solid.is_plane() { 0.0 } else { self.light.specular };
                let spot = Spot {
                    point: rays.direction(column, row) * depth,
                    normal,
                    albedo,
                    gloss,
                    sun: 1.0,
                    sky: 1.0,
                };
                colour[at] = colour[at].lerp(self.lit(&spot), solid.opacity);
            }
        });
    }

    fn sky(&self, direction: Vec3) -> Vec3 {
        let elevation = (direction.z / direction.length()).max(0.0);
        self.horizon.lerp(self.zenith, elevation.sqrt())
    }

    /// The light that leaves a spot towards the camera; `spot.point` is relative to the camera.
    fn lit(&self, spot: &Spot) -> Vec3 {
        let distance_squared = spot.point.dot(spot.point);
        let to_eye = spot.point * (-1.0 / distance_squared.sqrt());
        let incidence = spot.normal.dot(self.to_sun).max(0.0);
        let ambient = GROUND_TINT.lerp(SKY_TINT, 0.5 + 0.5 * spot.normal.z) * (self.light.ambient * spot.sky);
        let sun = SUN_TINT * (self.light.sun * incidence * spot.sun);
        let lamp = self.light.headlight * spot.normal.dot(to_eye).max(0.0);
        let diffuse = spot.albedo.times(ambient + sun + Vec3::all(lamp));
        let strength = spot.gloss * spot.sun;
        let shine = if strength > 0.0 { strength * highlight(spot.normal, self.to_sun, to_eye) } else { 0.0 };
        self.hazed(diffuse + Vec3::all(shine), distance_squared)
    }

    fn hazed(&self, colour: Vec3, distance_squared: f32) -> Vec3 {
        let x = distance_squared * (self.haze_per_m * self.haze_per_m);
        colour.lerp(self.horizon, x / (1.0 + x))
    }
}

/// Blinn's highlight with exponent 32.
fn highlight(normal: Vec3, to_sun: Vec3, to_eye: Vec3) -> f32 {
    if normal.dot(to_sun) <= 0.0 {
        return 0.0;
    }
    (0..5).fold(normal.dot((to_sun + to_eye).unit()).max(0.0), |x, _| x * x)
}

fn albedo(solid: &Solid, column: usize, row: usize, depth: f32) -> Vec3 {
    match solid.checker {
        Some((other, squares_per_m)) if solid.is_plane() => {
            let share =
                floor::checker_share(&solid.rays, solid.rays.direction(column, row), depth, squares_per_m);
            solid.albedo.lerp(other, share)
        }
        _ => solid.albedo,
    }
}
