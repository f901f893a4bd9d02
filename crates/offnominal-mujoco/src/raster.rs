//! A CPU rasteriser for scenes of primitives: colours and class ids, deterministic to the bit.
//!
//! Solids are hit analytically: silhouettes and normals are exact, whatever the resolution. Every pass visits the
//! shapes one by one and only the pixels a shape (or its shadow) can touch, in front of a depth buffer.
//!
//! ```
//! use offnominal_core::frame::Frame;
//! use offnominal_mujoco::raster::{GeomType, Quality, Rasteriser, Scene, Shape};
//!
//! let ball = Shape::new(GeomType::Sphere, [0.5, 0.0, 0.0]).at([0.0, 0.0, 1.0]).painted([0.9, 0.2, 0.1, 1.0], 2);
//! let scene = Scene { shapes: vec![Shape::floor(1), ball], ..Scene::default() };
//! let mut frame = Frame::new(65, 65);
//! Rasteriser::new(Quality::Observation).draw(&scene, &mut frame);
//! assert_eq!(frame.centroid(2), Some((32.0, 32.0)));
//! ```

mod camera;
mod floor;
mod footprint;
mod hit;
mod quality;
mod scene;
mod shade;
mod shadow;
mod solid;
mod surface;

pub use quality::Quality;
pub use scene::{GeomType, Light, Scene, Shape, Sky, Texture, View};

use camera::{Camera, Rays};
use offnominal_core::frame::Frame;
use offnominal_core::vec3::Vec3;
use shade::Shader;
use shadow::Shadows;
use solid::Solid;
use surface::{Surfaces, refill};

/// Draws scenes, and keeps its buffers: from the second frame of a size on, nothing is allocated.
#[derive(Debug, Default)]
pub struct Rasteriser {
    quality: Quality,
    solids: Vec<Solid>,
    seen: Surfaces,
    shadows: Shadows,
    colour: Vec<Vec3>,
    sum: Vec<Vec3>,
}

impl Rasteriser {
    /// A rasteriser that spends so many rays on each pixel.
    pub fn new(quality: Quality) -> Rasteriser {
        Rasteriser { quality, ..Rasteriser::default() }
    }

    /// Draws a scene over the whole frame, in the frame's size. A view that looks nowhere shows the horizon.
    pub fn draw(&mut self, scene: &Scene, frame: &mut Frame) {
        let Some(camera) = Camera::new(&scene.view, frame.width, frame.height) else {
            let horizon = solid::linear(scene.sky.horizon);
            return frame.clear(displayed(horizon));
        };
        self.take_in(scene, &camera);
        self.add_up_rays(scene, &camera);
        self.write_colours(frame);
        self.write_classes(&camera, frame);
    }

    /// Checks the shapes and puts the translucent ones last, far ones first.
    fn take_in(&mut self, scene: &Scene, camera: &Camera) {
        self.solids.clear();
        self.solids.extend(scene.shapes.iter().filter_map(Solid::new));
        let distance =
            |s: &Solid| if s.is_plane() { f32::INFINITY } else { (s.centre - camera.position).length() };
        // Stable without allocation: insertion by neighbour swaps; scenes are small and mostly in order already.
        let is_before = |a: &Solid, b: &Solid| a.is_opaque() || !b.is_opaque() && distance(a) >= distance(b);
        for end in 1..self.solids.len() {
            let mut at = end;
            while at > 0 && !is_before(&self.solids[at - 1], &self.solids[at]) {
                self.solids.swap(at - 1, at);
                at -= 1;
            }
        }
    }

    fn add_up_rays(&mut self, scene: &Scene, camera: &Camera) {
        refill(&mut self.sum, camera.width * camera.height, Vec3::default());
        refill(&mut self.colour, camera.width * camera.height, Vec3::default());
        for k in 0..self.quality.n_rays() {
            let rays = camera.rays(self.quality.spot(k));
            let shader = Shader::new(scene, self.quality.sun_spot(k));
            self.aim(&rays);
            self.colour_rays(camera, &rays, &shader);
            for (sum, colour) in self.sum.iter_mut().zip(&self.colour) {
                *sum = *sum + *colour;
            }
        }
    }

    fn aim(&mut self, rays: &Rays) {
        self.solids.iter_mut().for_each(|solid| solid.aim(rays));
    }

    fn colour_rays(&mut self, camera: &Camera, rays: &Rays, shader: &Shader) {
        let Rasteriser { solids, seen, shadows, colour, .. } = self;
        seen.see(camera, solids);
        shadows.cast(camera, rays, solids, seen, shader.to_sun);
        shader.add_opaque(camera, rays, solids, seen, shadows, colour);
        for solid in solids.iter().filter(|s| !s.is_opaque()) {
            shader.blend(camera, rays, solid, seen, colour);
        }
    }

    fn write_colours(&self, frame: &mut Frame) {
        let share = 1.0 / self.quality.n_rays() as f32;
        for (pixel, sum) in frame.rgb.as_chunks_mut().0.iter_mut().zip(&self.sum) {
            *pixel = displayed(*sum * share);
        }
    }

    /// The class of a pixel is that of its centre, whatever the quality: the mask is the same.
    fn write_classes(&mut self, camera: &Camera, frame: &mut Frame) {
        if self.quality != Quality::Observation {
            self.aim(&camera.rays((0.5, 0.5)));
            self.seen.see(camera, &self.solids);
        }
        for (class, index) in frame.classes.iter_mut().zip(&self.seen.solid) {
            *class = self.solids.get(*index as usize).map_or(0, |s| s.class);
        }
        for solid in self.solids.iter().filter(|s| !s.is_opaque() && s.opacity >= 0.5) {
            footprint::of_solid(camera, solid).visit(camera.width, |column, row, at| {
                let depth = solid.depth(column, row);
                if depth > camera.near && depth < self.seen.depth[at] {
                    frame.classes[at] = solid.class;
                }
            });
        }
    }
}

/// The bytes of a linear colour.
fn displayed(linear: Vec3) -> [u8; 3] {
    let byte = |c: f32| (c.max(0.0).sqrt() * 255.0 + 0.5) as u8;
    [byte(linear.x), byte(linear.y), byte(linear.z)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_frame_of_a_size_needs_no_new_memory() {
        let ball = Shape::new(GeomType::Sphere, [0.5, 0.0, 0.0]).painted([0.5, 0.5, 0.5, 0.5], 2);
        let scene = Scene { shapes: vec![Shape::floor(1), ball], ..Scene::default() };
        let (mut rasteriser, mut frame) = (Rasteriser::new(Quality::Video), Frame::new(32, 24));
        rasteriser.draw(&scene, &mut frame);
        let before = buffers(&rasteriser);
        rasteriser.draw(&scene, &mut frame);
        assert_eq!(before, buffers(&rasteriser));
    }

    /// Capacity of every buffer and where it lies.
    fn buffers(r: &Rasteriser) -> Vec<(usize, usize)> {
        fn of<T>(buffer: &Vec<T>) -> (usize, usize) {
            (buffer.capacity(), buffer.as_ptr().addr())
        }
        let seen = [of(&r.seen.depth), of(&r.seen.solid), of(&r.seen.normal)];
        let shadows = [of(&r.shadows.sun), of(&r.shadows.sky)];
        [&seen[..], &shadows, &[of(&r.solids), of(&r.colour), of(&r.sum)]].concat()
    }
}
