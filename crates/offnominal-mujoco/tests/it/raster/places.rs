//! Where things are, by the pinhole's closed form.

use super::*;

#[track_caller]
fn assert_lands(point: [f32; 3], side: usize) {
    let (right, up, ahead) = (f64::from(point[0]), f64::from(point[2]) - 1.0, f64::from(point[1]) + 4.0);
    let half = side as f64 / 2.0;
    let expected = (half + scale(side) * right / ahead - 0.5, half - scale(side) * up / ahead - 0.5);
    let found = image(&[ball(0.05, point, 2)], side).centroid(2).expect("the ball is in the image");
    assert!((found.0 - expected.0).abs() < 0.5, "column: expected {}, found {}", expected.0, found.0);
    assert!((found.1 - expected.1).abs() < 0.5, "row: expected {}, found {}", expected.1, found.1);
}

#[test]
fn a_point_lands_on_its_pixel() {
    assert_lands([0.0, 0.0, 1.0], 129);
    assert_lands([1.0, 0.0, 1.5], 128);
    assert_lands([-0.7, 2.0, -0.3], 200);
}

#[test]
fn a_ball_covers_its_analytic_share() {
    for (radius, distance) in [(0.5, 4.0), (1.0, 3.0), (0.2, 2.0)] {
        let side = 256;
        let frame = image(&[ball(radius, [0.0, distance - 4.0, 1.0], 2)], side);
        let (r, d) = (f64::from(radius), f64::from(distance));
        let in_pixels = scale(side) * r / (d * d - r * r).sqrt();
        let expected = std::f64::consts::PI * (in_pixels / side as f64).powi(2);
        assert!((frame.share(2) / expected - 1.0).abs() < 0.01, "{} of {expected}", frame.share(2));
    }
}

#[test]
fn the_floor_ends_at_the_horizon() {
    let frame = image(&[Shape::floor(1)], 100);
    assert_eq!(frame.share(1), 0.5);
    assert!(frame.classes[..5000].iter().all(|&class| class == 0));
}

#[test]
fn a_finite_plane_ends_where_its_size_says() {
    let plate = Shape { class: 3, ..Shape::new(GeomType::Plane, [0.5, 0.25, 0.0]) };
    let mut scene = Scene { shapes: vec![plate], ..Scene::default() };
    scene.view =
        View { position: [0.0, 0.0, 4.0], forward: [0.0, 0.0, -1.0], up: [0.0, 1.0, 0.0], ..scene.view };
    let share = drawn(&scene, 256, Quality::Observation).share(3);
    let expected = 1.0 * 0.5 * (scale(256) / 4.0 / 256.0).powi(2);
    assert!((share / expected - 1.0).abs() < 0.03, "{share} of {expected}");
}

#[test]
fn the_nearer_shape_hides_the_farther_in_any_order() {
    let (near, far) = (ball(0.5, [0.0, -1.0, 1.0], 2), ball(0.5, [0.0, 1.0, 1.0], 3));
    for shapes in [[near, far], [far, near]] {
        let frame = image(&shapes, 64);
        assert_eq!(frame.share(3), 0.0);
        assert_eq!(frame.share(2), image(&[near], 64).share(2));
    }
}

#[test]
fn what_is_behind_the_camera_or_out_of_range_is_not_drawn() {
    for kind in [GeomType::Sphere, GeomType::Capsule, GeomType::Ellipsoid, GeomType::Cylinder, GeomType::Box]
    {
        let shape = Shape { class: 2, ..Shape::new(kind, [0.4, 0.3, 0.5]) };
        let behind = shape.at([0.0, -6.0, 1.0]);
        let beyond = shape.at([0.0, 2000.0, 1.0]);
        assert_eq!(image(&[behind, beyond], 32), image(&[], 32), "{kind:?}");
        assert!(image(&[shape.at([0.0, 0.0, 1.0])], 32).share(2) > 0.0, "{kind:?} in front");
    }
}

#[test]
fn a_solid_is_invisible_from_its_inside() {
    assert_eq!(image(&[ball(2.0, [0.0, -4.0, 1.0], 2)], 32).share(2), 0.0);
}
