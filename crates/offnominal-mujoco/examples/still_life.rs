//! Every form the rasteriser knows in one image: `cargo run --example still_life -- out.ppm`.

use offnominal_core::frame::Frame;
use offnominal_mujoco::raster::{GeomType, Quality, Rasteriser, Scene, Shape, View};
use std::io::Write;

fn main() -> std::io::Result<()> {
    let path = std::env::args().nth(1).unwrap_or_else(|| "still_life.ppm".into());
    let mut frame = Frame::new(640, 360);
    Rasteriser::new(Quality::Still).draw(&still_life(), &mut frame);
    let mut file = std::fs::File::create(path)?;
    writeln!(file, "P6 {} {} 255", frame.width, frame.height)?;
    file.write_all(&frame.rgb)
}

fn still_life() -> Scene {
    let s = std::f32::consts::FRAC_1_SQRT_2;
    let lying = [s, 0.0, s, 0.0, 1.0, 0.0, -s, 0.0, s];
    let capsule = Shape::new(GeomType::Capsule, [0.22, 0.22, 0.5]).at([-0.1, 0.2, 0.6]);
    let shapes = vec![
        Shape::floor(1),
        Shape::new(GeomType::Sphere, [0.5, 0.0, 0.0])
            .at([-1.5, 0.0, 0.5])
            .painted([0.90, 0.35, 0.25, 1.0], 2),
        Shape { rotation: lying, ..capsule.painted([0.85, 0.60, 0.35, 1.0], 3) },
        Shape::new(GeomType::Cylinder, [0.35, 0.35, 0.4])
            .at([1.2, 0.4, 0.4])
            .painted([0.30, 0.55, 0.75, 1.0], 4),
        Shape::new(GeomType::Box, [0.3, 0.3, 0.3]).at([-0.9, 1.4, 0.3]).painted([0.45, 0.65, 0.40, 1.0], 5),
        Shape::new(GeomType::Ellipsoid, [0.6, 0.3, 0.25])
            .at([0.9, -1.0, 0.25])
            .painted([0.55, 0.45, 0.75, 1.0], 6),
        Shape::new(GeomType::Sphere, [0.3, 0.0, 0.0])
            .at([-0.4, -1.3, 0.3])
            .painted([0.95, 0.80, 0.20, 0.5], 7),
    ];
    Scene { shapes, view: View::between([0.4, -5.0, 2.0], [0.0, 0.0, 0.4]), ..Scene::default() }
}
