//! Frames per second of the rasteriser on a scene like HalfCheetah: a chequered floor, nine capsules, a ball.
//!
//! The goal is a median below 1 ms at 128 × 128 with observation quality, on one core.

use divan::counter::ItemsCount;
use offnominal_core::frame::Frame;
use offnominal_mujoco::raster::{GeomType, Quality, Rasteriser, Scene, Shape, View};

fn main() {
    divan::main();
}

/// Joint positions (x, z) and radius of a running cheetah's links, from the side.
const LINKS: [([f32; 2], [f32; 2], f32); 8] = [
    ([-0.5, 0.7], [0.5, 0.7], 0.046),
    ([0.5, 0.7], [0.72, 0.92], 0.046),
    ([-0.5, 0.7], [-0.34, 0.43], 0.046),
    ([-0.34, 0.43], [-0.60, 0.26], 0.046),
    ([-0.60, 0.26], [-0.49, 0.05], 0.046),
    ([0.5, 0.7], [0.42, 0.44], 0.046),
    ([0.42, 0.44], [0.58, 0.24], 0.046),
    ([0.58, 0.24], [0.66, 0.06], 0.046),
];

fn cheetah() -> Scene {
    let mut shapes = vec![Shape::floor(1)];
    shapes.extend(LINKS.iter().map(|&(from, to, radius)| link(from, to, radius)));
    let head = Shape::new(GeomType::Sphere, [0.08, 0.0, 0.0]).at([0.78, 0.0, 0.97]);
    shapes.push(head.painted([0.8, 0.55, 0.35, 1.0], 3));
    Scene { shapes, view: View::between([0.0, -3.0, 1.0], [0.0, 0.0, 0.6]), ..Scene::default() }
}

/// A capsule between two points of the xz plane.
fn link(from: [f32; 2], to: [f32; 2], radius: f32) -> Shape {
    let (x, z) = (to[0] - from[0], to[1] - from[1]);
    let length = x.hypot(z);
    let (x, z) = (x / length, z / length);
    Shape {
        position: [(from[0] + to[0]) / 2.0, 0.0, (from[1] + to[1]) / 2.0],
        rotation: [z, 0.0, x, 0.0, 1.0, 0.0, -x, 0.0, z],
        ..Shape::new(GeomType::Capsule, [radius, radius, length / 2.0]).painted([0.8, 0.55, 0.35, 1.0], 2)
    }
}

#[divan::bench(args = [(64, Quality::Observation), (128, Quality::Observation), (128, Quality::Video), (256, Quality::Still)])]
fn cheetah_frame(bencher: divan::Bencher, (side, quality): (usize, Quality)) {
    let (scene, mut frame, mut rasteriser) = (cheetah(), Frame::new(side, side), Rasteriser::new(quality));
    bencher.counter(ItemsCount::new(1_u32)).bench_local(|| rasteriser.draw(&scene, &mut frame));
    assert!(frame.share(2) > 0.01, "the cheetah is in the image");
}
