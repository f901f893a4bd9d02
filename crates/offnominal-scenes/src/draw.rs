//! Draws a scene: four samples a pixel, each lit and seen through air, then a lens and a sensor.

use crate::class::Class;
use crate::image::{Image, Visible};
use crate::material::{Material, Place};
use crate::noise::smooth;
use crate::scene::{Floor, Scene};
use crate::shadow::{Shadows, cast};
use crate::view::{Seen, View, look};
use offnominal_core::Rng;
use offnominal_core::vec3::{Vec3, vec3};

/// Samples per pixel in each direction.
const SUB: usize = 2;

const UP: Vec3 = vec3(0.0, 1.0, 0.0);

/// A lit sample.
#[derive(Debug, Clone, Copy)]
struct Sample {
    light: Vec3,
    class: Class,
    thing: Option<usize>,
    is_dark: bool,
}

/// Draws a scene of so many pixels; the generator gives the noise of the sensor.
pub fn draw(scene: &Scene, width: usize, height: usize, rng: &mut Rng) -> Image {
    let view = View::new(scene.camera, SUB * width, SUB * height);
    let seen = look(scene, &view);
    let shadows = cast(scene, &view, &seen);
    let shader = Shader { scene, view: &view, seen: &seen, shadows: &shadows };
    let n = width * height;
    let mut image = Image {
        width,
        height,
        rgb: Vec::with_capacity(3 * n),
        classes: Vec::with_capacity(n),
        instances: Vec::with_capacity(n),
        depth_m: Vec::with_capacity(n),
        shadow: Vec::with_capacity(n),
        visible: Vec::new(),
    };
    let mut noise = vec![0.0; 3 * n];
    rng.fill_normal(&mut noise);
    for at in 0..n {
        shader.pixel(at % width, at / width, &noise[3 * at..3 * at + 3], &mut image);
    }
    image.visible = visible(scene, &image);
    image
}

struct Shader<'a> {
    scene: &'a Scene,
    view: &'a View,
    seen: &'a Seen,
    shadows: &'a Shadows,
}

impl Shader<'_> {
    fn pixel(&self, column: usize, row: usize, noise: &[f32], image: &mut Image) {
        let at: [usize; SUB * SUB] =
            std::array::from_fn(|i| (SUB * row + i / SUB) * self.view.width + SUB * column + i % SUB);
        let samples = self.samples(at);
        let light = samples.iter().fold(Vec3::default(), |sum, s| sum + s.light) * 0.25;
        let main = commonest(&samples);
        let is_mixed = samples.iter().any(|s| s.class != samples[0].class);
        let thing = samples[main].thing.filter(|_| samples[main].class.is_counted());
        image.rgb.extend(self.develop(light, column, row, noise));
        image.classes.push(if is_mixed { Class::Ignored } else { samples[main].class });
        image.instances.push(thing.map_or(0, |t| t as u16 + 1));
        image.depth_m.push(self.seen.depth[at[main]]);
        image.shadow.push(samples[main].is_dark);
    }

    /// The samples of a pixel. Where all see the same solid, those on a diagonal stand for the others.
    fn samples(&self, at: [usize; SUB * SUB]) -> [Sample; SUB * SUB] {
        let is_uniform = at.iter().all(|&i| self.seen.solid[i] == self.seen.solid[at[0]]);
        let [first, last] = [at[0], at[3]].map(|i| self.sample(i));
        if is_uniform {
            [first, first, last, last]
        } else {
            [first, self.sample(at[1]), self.sample(at[2]), last]
        }
    }

    /// Exposure, the lens's falling brightness, the sensor's noise.
    fn develop(&self, light: Vec3, column: usize, row: usize, noise: &[f32]) -> [u8; 3] {
        let [a, b] = self.view.slant(SUB * column, SUB * row);
        let gain = self.scene.exposure * (1.0 - 0.25 * (a * a + b * b));
        std::array::from_fn(|i| {
            let x = gain * light[i];
            // Highlights are compressed, as video does.
            let grey = 255.0 * (x * 1.12 / (1.0 + 0.12 * x * x)).max(0.0).sqrt();
            (grey + self.scene.noise * noise[i]).round().clamp(0.0, 255.0) as u8
        })
    }

    fn sample(&self, at: usize) -> Sample {
        let direction = self.view.direction(at % self.view.width, at / self.view.width);
        let (depth, light) = (self.seen.depth[at], &self.scene.light);
        if self.seen.solid[at] > 0 {
            return self.solid(at, direction, depth);
        }
        if depth == f32::INFINITY {
            return Sample { light: light.sky(direction), class: Class::Sky, thing: None, is_dark: false };
        }
        let place = self.view.position + direction * depth;
        let (class, colour, wet) = self.floor(place);
        let is_dark = self.shadows.ground[at];
        let mut lit = light.on(colour, UP, !is_dark, self.shadows.open[at]);
        if wet > 0.0 {
            let mirrored = light.sky(vec3(direction.x, -direction.y, direction.z));
            let share = wet * (0.15 + 0.75 * smooth(0.35, 0.0, -direction.unit().y)) * self.shadows.open[at];
            lit = lit.lerp(mirrored, share);
        }
        let distance = depth * direction.length();
        Sample { light: light.through_air(lit, distance), class, thing: None, is_dark }
    }

    fn floor(&self, place: Vec3) -> (Class, Vec3, f32) {
        match &self.scene.floor {
            Floor::Street(ground) => {
                let spot = ground.at(place.x, place.z, self.scene.light.puddles);
                (spot.class, spot.colour, spot.wet)
            }
            Floor::Room(material, class) => {
                let place = Place { local: place, metres: place, normal: UP, key: 0 };
                (*class, material.colour(&place), 0.0)
            }
        }
    }

    fn solid(&self, at: usize, direction: Vec3, depth: f32) -> Sample {
        let (number, light) = (self.seen.solid[at] as usize - 1, &self.scene.light);
        let solid = &self.scene.solids[number];
        let point = self.view.position + direction * depth;
        let local = solid.local(point);
        let normal = solid.normal(local);
        let place = Place { local, metres: local.times(solid.half), normal, key: number as u32 };
        let is_hidden = self.shadows.things[solid.thing];
        let colour = solid.material.colour(&place);
        // Near the ground things see less of the sky.
        let open = 0.6 + 0.4 * smooth(0.0, 1.2, point.y);
        let mut lit = light.on(colour, normal, !is_hidden, open);
        match solid.material {
            Material::Lamp(c) => lit = lit + c * 0.6,
            Material::Glass(_) => lit = lit.lerp(light.sky(mirrored(direction, normal)), 0.3),
            _ => {}
        }
        let has_sun = light.sunlight.x > 0.0;
        let is_dark = has_sun && (is_hidden || normal.dot(light.sun) < 0.0);
        let class = self.scene.things[solid.thing].class;
        let distance = depth * direction.length();
        Sample { light: light.through_air(lit, distance), class, thing: Some(solid.thing), is_dark }
    }
}

fn mirrored(direction: Vec3, normal: Vec3) -> Vec3 {
    direction - normal * (2.0 * direction.dot(normal))
}

/// The first sample of the commonest class and thing.
fn commonest(samples: &[Sample; SUB * SUB]) -> usize {
    let same = |i: usize| {
        samples.iter().filter(|s| s.class == samples[i].class && s.thing == samples[i].thing).count()
    };
    (0..samples.len()).rev().max_by_key(|&i| same(i)).unwrap_or(0)
}

fn visible(scene: &Scene, image: &Image) -> Vec<Visible> {
    let mut counts = vec![[0_usize; 2]; scene.things.len()];
    for (&instance, &is_dark) in image.instances.iter().zip(&image.shadow).filter(|(i, _)| **i > 0) {
        let count = &mut counts[usize::from(instance) - 1];
        count[0] += 1;
        count[1] += usize::from(is_dark);
    }
    let seen = scene.things.iter().zip(counts).enumerate().filter(|(_, (_, [pixels, _]))| *pixels > 0);
    seen.map(|(i, (thing, [pixels, dark]))| Visible {
        instance: i as u16 + 1,
        kind: thing.kind,
        is_unknown: thing.class == Class::Unknown,
        distance_m: thing.at.z,
        pixels,
        shadow: dark as f32 / pixels as f32,
    })
    .collect()
}
