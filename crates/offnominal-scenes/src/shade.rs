//! The light that a sample sees: lit by sun, sky and lamps, mirrored by water and glass, and seen through air.

use crate::class::Class;
use crate::look::{Samples, look, look_up};
use crate::noise::{gradient, smooth};
use crate::scene::{Floor, Scene};
use crate::shadow::{Shadows, cast};
use crate::surface::{Place, Surface};
use crate::view::View;
use offnominal_core::vec3::{Vec3, vec3};

const UP: Vec3 = vec3(0.0, 1.0, 0.0);

/// A lit sample.
#[derive(Debug, Clone, Copy)]
pub struct Sample {
    /// Its light.
    pub light: Vec3,
    /// What it shows.
    pub class: Class,
    /// The number of the thing that it shows, if any.
    pub thing: Option<usize>,
    /// Whether the sun is hidden where it would shine.
    pub is_dark: bool,
}

/// What is needed to light the samples of a scene.
pub struct Shader<'a> {
    scene: &'a Scene,
    /// The samples.
    pub view: View,
    /// What they see.
    pub seen: Samples,
    shadows: Shadows,
    mirror: Option<Mirror>,
}

/// What a mirror on the ground shows, for every second sample in either direction.
struct Mirror {
    view: View,
    seen: Samples,
}

/// A ray of the camera that ends on a solid.
struct Hit {
    solid: usize,
    from: Vec3,
    direction: Vec3,
    depth: f32,
}

impl Shader<'_> {
    /// Finds what every sample sees.
    pub fn new(scene: &Scene, view: View) -> Shader<'_> {
        let seen = look(scene, &view);
        let shadows = cast(scene, &view, &seen);
        let mirror = (scene.light.puddles > 0.0).then(|| {
            let view = View::new(scene.camera, view.width / 2, view.height / 2).mirrored();
            Mirror { seen: look_up(scene, &view), view }
        });
        Shader { scene, view, seen, shadows, mirror }
    }

    /// Lights a sample.
    pub fn sample(&self, at: usize) -> Sample {
        let (column, row) = (at % self.view.width, at / self.view.width);
        let direction = self.view.direction(column, row);
        let (depth, light) = (self.seen.depth[at], &self.scene.light);
        if self.seen.solid[at] > 0 {
            let solid = self.seen.solid[at] as usize - 1;
            return self.solid(&Hit { solid, from: self.view.position, direction, depth });
        }
        if depth == f32::INFINITY {
            return Sample { light: light.sky(direction), class: Class::Sky, thing: None, is_dark: false };
        }
        let place = self.view.position + direction * depth;
        let (class, colour, wet) = self.floor(place);
        let is_dark = self.shadows.ground[at];
        let open = self.shadows.open[at];
        let mut lit = light.on(colour, place, self.up(place), !is_dark, open);
        if wet > 0.0 {
            let grazing = 0.15 + 0.75 * smooth(0.35, 0.0, -direction.unit().y);
            lit = lit.lerp(self.reflection(column, row, place), wet * grazing * (0.4 + 0.6 * open));
        }
        let light = light.through_air(lit, depth * direction.length());
        Sample { light, class, thing: None, is_dark }
    }

    fn up(&self, place: Vec3) -> Vec3 {
        match &self.scene.floor {
            Floor::Street(ground) => ground.normal(place.z),
            Floor::Room(..) => UP,
        }
    }

    fn floor(&self, place: Vec3) -> (Class, Vec3, f32) {
        match &self.scene.floor {
            Floor::Street(ground) => {
                let spot = ground.at(place.x, place.z, self.scene.light.puddles);
                (spot.class, spot.colour, spot.wet)
            }
            Floor::Room(material, class) => {
                let whole = Place { local: place, half: Vec3::all(1.0), face: 1, key: 0, grain_m: 0.0 };
                (*class, material.surface(&whole).colour, 0.0)
            }
        }
    }

    /// What water at a sample of the ground mirrors, blurred up and down by ripples. The mirror is that of level ground.
    fn reflection(&self, column: usize, row: usize, place: Vec3) -> Vec3 {
        let Some(Mirror { view, seen }) = &self.mirror else { return Vec3::default() };
        let ripple = 0.02 * gradient(9.0 * place.x, 2.5 * place.z, self.scene.light.key);
        let shifted = 0.5 * row as f32 + ripple * view.height as f32;
        let row = (shifted.max(0.0) as usize).min(view.height - 1);
        let column = (column / 2).min(view.width - 1);
        let at = row * view.width + column;
        let (direction, depth) = (view.direction(column, row), seen.depth[at]);
        let foot = view.position.z + direction.z * depth;
        let is_above = view.position.y + direction.y * depth > self.scene.ground_height(foot);
        if seen.solid[at] == 0 || !is_above {
            return self.scene.light.sky(direction);
        }
        self.solid(&Hit { solid: seen.solid[at] as usize - 1, from: view.position, direction, depth }).light
    }

    /// Lights a place on a solid.
    fn solid(&self, hit: &Hit) -> Sample {
        let light = &self.scene.light;
        let solid = &self.scene.solids[hit.solid];
        let point = hit.from + hit.direction * hit.depth;
        let local = solid.local(point);
        let (normal, face) = solid.normal(local);
        let grain_m = hit.depth * self.view.grain();
        let place = Place { local, half: solid.half, face, key: hit.solid as u32, grain_m };
        let is_hidden = self.shadows.things[solid.thing];
        let surface = solid.material.surface(&place);
        // Near the ground things see less of the sky.
        let open = 0.6 + 0.4 * smooth(0.0, 1.2, point.y - self.scene.ground_height(point.z));
        let mut lit = light.on(surface.colour, point, normal, !is_hidden, open);
        if surface.gloss > 0.0 {
            lit = lit.lerp(self.shine(hit.direction, normal), surface.gloss);
        }
        lit = lit + self.glow(&surface);
        let has_sun = light.sunlight.x > 0.0;
        let is_dark = has_sun && (is_hidden || normal.dot(light.sun) < 0.0);
        let class = self.scene.things[solid.thing].class;
        let distance = hit.depth * hit.direction.length();
        Sample { light: light.through_air(lit, distance), class, thing: Some(solid.thing), is_dark }
    }

    fn glow(&self, surface: &Surface) -> Vec3 {
        surface.glow[usize::from(self.scene.light.is_night)]
    }

    /// What a smooth surface mirrors: the sky above, and something dark below.
    fn shine(&self, direction: Vec3, normal: Vec3) -> Vec3 {
        let mirrored = direction - normal * (2.0 * direction.dot(normal));
        let light = &self.scene.light;
        let horizon = smooth(-0.1, 0.05, mirrored.unit().y);
        light.skylight.times(Vec3::all(0.2)).lerp(light.sky(mirrored), horizon)
    }
}
