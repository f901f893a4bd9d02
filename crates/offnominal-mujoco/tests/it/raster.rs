//! What the rasteriser puts where: closed forms, brute force, and laws under random scenes.

mod colours;
mod places;
mod robustness;
mod silhouettes;

use offnominal_core::frame::Frame;
use offnominal_mujoco::raster::{GeomType, Quality, Rasteriser, Scene, Shape, View};

/// An image of shapes from the default view: from (0, −4, 1) along +y, 45° high.
fn image(shapes: &[Shape], side: usize) -> Frame {
    let scene = Scene { shapes: shapes.to_vec(), ..Scene::default() };
    drawn(&scene, side, Quality::Observation)
}

fn drawn(scene: &Scene, side: usize, quality: Quality) -> Frame {
    let mut frame = Frame::new(side, side);
    Rasteriser::new(quality).draw(scene, &mut frame);
    frame
}

fn ball(radius: f32, position: [f32; 3], class: u8) -> Shape {
    Shape::new(GeomType::Sphere, [radius, 0.0, 0.0]).at(position).painted([0.9, 0.1, 0.1, 1.0], class)
}

/// Pixels per unit of tan(angle) in a square image from the default view.
fn scale(side: usize) -> f64 {
    side as f64 / 2.0 / (f64::from(View::default().fovy_rad) / 2.0).tan()
}

fn pixel(frame: &Frame, column: usize, row: usize) -> [u8; 3] {
    frame.rgb.as_chunks().0[row * frame.width + column]
}
