//! Silhouettes against brute force: march along every pixel's ray and ask whether a point is inside.

use super::*;

const SIDE: usize = 64;
const STEP_M: f64 = 0.003;

type Point = [f64; 3];

/// Whether a point in the shape's own frame is inside; written from the definition of each solid.
fn is_inside(kind: GeomType, [a, b, c]: Point, [x, y, z]: Point) -> bool {
    match kind {
        GeomType::Plane => z <= 0.0,
        GeomType::Sphere => x * x + y * y + z * z <= a * a,
        GeomType::Capsule => x * x + y * y + (z.abs() - c).max(0.0).powi(2) <= a * a,
        GeomType::Ellipsoid => (x / a).powi(2) + (y / b).powi(2) + (z / c).powi(2) <= 1.0,
        GeomType::Cylinder => x * x + y * y <= a * a && z.abs() <= c,
        GeomType::Box => x.abs() <= a && y.abs() <= b && z.abs() <= c,
    }
}

/// Whether the ray through a pixel's centre, from the default view, meets the shape.
fn march(shape: &Shape, column: usize, row: usize) -> bool {
    let half = SIDE as f64 / 2.0;
    let tan = |pixel: usize| (pixel as f64 + 0.5 - half) / scale(SIDE);
    let (right, up) = (tan(column), -tan(row));
    let length = (1.0 + right * right + up * up).sqrt();
    let steps = (2.5 / STEP_M) as usize;
    (0..steps).map(|i| (2.75 + i as f64 * STEP_M) / length).any(|ahead| {
        let world = [right * ahead, ahead - 4.0, 1.0 + up * ahead];
        is_inside(shape.kind, shape.size.map(f64::from), local(shape, world))
    })
}

fn local(shape: &Shape, world: Point) -> Point {
    let offset: Point = std::array::from_fn(|i| world[i] - f64::from(shape.position[i]));
    std::array::from_fn(|j| (0..3).map(|i| f64::from(shape.rotation[3 * i + j]) * offset[i]).sum())
}

/// A rotation about z, then about x.
fn rotation(about_z: f32, about_x: f32) -> [f32; 9] {
    let ((s, c), (t, d)) = (about_z.sin_cos(), about_x.sin_cos());
    [c, -s, 0.0, d * s, d * c, -t, t * s, t * c, d]
}

/// The pixels that differ between a drawn shape and the truth, as a share of the true silhouette.
fn share_wrong(drawn: &Shape, truth: &Shape) -> f64 {
    let frame = image(&[*drawn], SIDE);
    let pixels = (0..SIDE * SIDE).map(|at| (frame.classes[at] == 1, march(truth, at % SIDE, at / SIDE)));
    let (wrong, all) = pixels.fold((0, 0), |(wrong, all), (found, expected)| {
        (wrong + usize::from(found != expected), all + usize::from(expected))
    });
    assert!(all > 50, "{truth:?} is in the image");
    wrong as f64 / all as f64
}

#[track_caller]
fn check(kind: GeomType, size: [f32; 3]) {
    for (about_z, about_x) in [(0.0, 0.0), (0.4, 0.9), (1.2, -0.6), (2.5, 1.6)] {
        let shape = Shape { rotation: rotation(about_z, about_x), class: 1, ..Shape::new(kind, size) };
        let shape = shape.at([0.1, 0.05, 0.9]);
        let wrong = share_wrong(&shape, &shape);
        assert!(wrong <= 0.01, "{kind:?} turned by {about_z}, {about_x}: {wrong}");
    }
}

#[test]
fn sphere() {
    check(GeomType::Sphere, [0.5, 0.0, 0.0]);
}

#[test]
fn capsule() {
    check(GeomType::Capsule, [0.2, 0.2, 0.5]);
}

#[test]
fn ellipsoid() {
    check(GeomType::Ellipsoid, [0.7, 0.3, 0.45]);
}

#[test]
fn cylinder() {
    check(GeomType::Cylinder, [0.35, 0.35, 0.4]);
}

#[test]
fn cuboid() {
    check(GeomType::Box, [0.5, 0.25, 0.35]);
}

#[test]
fn the_check_rejects_a_shape_of_a_slightly_wrong_size_or_place() {
    let truth = Shape { class: 1, ..Shape::new(GeomType::Capsule, [0.2, 0.2, 0.5]).at([0.0, 0.0, 1.0]) };
    assert!(share_wrong(&Shape { size: [0.22, 0.22, 0.5], ..truth }, &truth) > 0.01);
    assert!(share_wrong(&truth.at([0.05, 0.0, 1.0]), &truth) > 0.01);
}
