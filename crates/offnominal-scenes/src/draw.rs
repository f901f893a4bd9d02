//! Draws a scene: four samples a pixel, then what the air and the lens add, then a sensor.

use crate::class::Class;
use crate::image::{Image, Visible};
use crate::scene::Scene;
use crate::shade::{Sample, Shader};
use crate::view::View;
use crate::{glare, rain};
use offnominal_core::Rng;
use offnominal_core::vec3::Vec3;

/// Samples per pixel in each direction.
const SUB: usize = 2;

/// Draws a scene of so many pixels; the generator gives the noise of the sensor.
pub fn draw(scene: &Scene, width: usize, height: usize, rng: &mut Rng) -> Image {
    let shader = Shader::new(scene, View::new(scene.camera, SUB * width, SUB * height));
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
    let mut light: Vec<Vec3> = (0..n).map(|at| pixel(&shader, at % width, at / width, &mut image)).collect();
    glare::add(scene, &shader.seen, SUB, &mut light, width);
    rain::fall(&scene.light, &mut light, width);
    image.rgb = develop(scene, &shader.view, &light, rng);
    image.visible = visible(scene, &image);
    image
}

/// Adds what is true of a pixel to the image, and returns its light.
fn pixel(shader: &Shader<'_>, column: usize, row: usize, image: &mut Image) -> Vec3 {
    let at: [usize; SUB * SUB] =
        std::array::from_fn(|i| (SUB * row + i / SUB) * shader.view.width + SUB * column + i % SUB);
    let samples = samples(shader, at);
    let main = commonest(&samples);
    let is_mixed = samples.iter().any(|s| s.class != samples[0].class);
    let thing = samples[main].thing.filter(|_| samples[main].class.is_counted());
    image.classes.push(if is_mixed { Class::Ignored } else { samples[main].class });
    image.instances.push(thing.map_or(0, |t| t as u16 + 1));
    image.depth_m.push(shader.seen.depth[at[main]]);
    image.shadow.push(samples[main].is_dark);
    samples.iter().fold(Vec3::default(), |sum, s| sum + s.light) * 0.25
}

/// The samples of a pixel. Where all see the same solid, those on a diagonal stand for the others.
fn samples(shader: &Shader<'_>, at: [usize; SUB * SUB]) -> [Sample; SUB * SUB] {
    let is_uniform = at.iter().all(|&i| shader.seen.solid[i] == shader.seen.solid[at[0]]);
    let [first, last] = [at[0], at[3]].map(|i| shader.sample(i));
    if is_uniform {
        [first, first, last, last]
    } else {
        [first, shader.sample(at[1]), shader.sample(at[2]), last]
    }
}

/// Exposure, the lens's falling brightness, the sensor's noise.
fn develop(scene: &Scene, view: &View, light: &[Vec3], rng: &mut Rng) -> Vec<u8> {
    let mut noise = vec![0.0; 3 * light.len()];
    rng.fill_normal(&mut noise);
    let width = view.width / SUB;
    let pixel = |(at, light): (usize, &Vec3)| -> [u8; 3] {
        let [a, b] = view.slant(SUB * (at % width), SUB * (at / width));
        let gain = scene.exposure * (1.0 - 0.25 * (a * a + b * b));
        std::array::from_fn(|i| {
            let x = gain * light[i];
            // Highlights are compressed, as video does.
            let grey = 255.0 * (x * 1.12 / (1.0 + 0.12 * x * x)).max(0.0).sqrt();
            (grey + scene.noise * noise[3 * at + i]).round().clamp(0.0, 255.0) as u8
        })
    };
    light.iter().enumerate().flat_map(pixel).collect()
}

/// The first sample of the commonest class and thing; among equals, one that shows a thing.
fn commonest(samples: &[Sample; SUB * SUB]) -> usize {
    let same = |i: usize| {
        samples.iter().filter(|s| s.class == samples[i].class && s.thing == samples[i].thing).count()
    };
    (0..samples.len()).rev().max_by_key(|&i| (same(i), samples[i].thing.is_some())).unwrap_or(0)
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
